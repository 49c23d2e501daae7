import type pg from "pg";
import type { Logger } from "pino";
import { pidOf, type Waiting } from "../upgrades/lock-waits";
import { openClient } from "../connections/open-client";
import { FUNCTIONS } from "./functions";
import { HOMES } from "../home";
import { HAS_CITUS, isTrue } from "../migrations/is-distributed";
import { fitPolicies } from "./policies";
import { readViews, type View } from "./views";

/**
 * Tables with a copy on every node. Statements about rows of organizations read them, so a worker must have them.
 * Tables that are neither here nor keyed by organization stay on the coordinator: the job queue, and the lookups, whose
 * keys are unique among all organizations.
 */
const REFERENCE_TABLES = ["organizations", "templates", "online_steps"];

const HOMES_TABLE = [
  `create table if not exists ${HOMES}
    (organization_id text collate "C" primary key references organizations on delete cascade)`,
  `do $$ begin
    if not exists (select from pg_policy where polrelid = '${HOMES}'::regclass) then
      alter table ${HOMES} enable row level security;
      create policy tenant on ${HOMES}
        using (organization_id = current_setting('parley.organization_id', true))
        with check (organization_id = current_setting('parley.organization_id', true));
    end if;
  end $$`,
];

/** The empty table of `COMMIT_IN_TWO_PHASES`. */
export const TWO_PHASE_TABLE = "distributed_commits";

/** A foreign key, as text of SQL. */
interface ForeignKey {
  readonly child: string;
  readonly parent: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * Whether a table is distributed or copied to all nodes. Citus also lists new tables on the coordinator if a foreign key
 * leads to a copied table.
 */
const isSpread = (table: string) =>
  `exists (select from pg_dist_partition p where p.logicalrelid = ${table} and (p.partmethod = 'h' or p.repmodel = 't'))`;

/** Tables whose primary key begins with the organization, and whether they are distributed. */
const TENANT_TABLES = `
  select c.oid::regclass::text as name, ${isSpread("c.oid")} as done
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indkey[0] = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by 2 desc, 1`;

/** Tables whose former rows are still on the coordinator, also after an interrupted run. */
const UNCLEARED_TABLES = `
  select c.oid::regclass::text as name, true as done from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and ${isSpread("c.oid")} and pg_relation_size(c.oid) > 0
  order by 1`;

const OTHER_TABLES = `
  select c.oid::regclass::text as name, exists (select from pg_dist_partition p where p.logicalrelid = c.oid) as done
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = any($1)`;

/** Foreign keys of or to a table that is to be distributed, and those of tables on the coordinator. */
const FOREIGN_KEYS = `
  select f.conrelid::regclass::text as child, f.confrelid::regclass::text as parent, quote_ident(f.conname) as name,
    pg_get_constraintdef(f.oid) as definition
  from pg_constraint f where f.contype = 'f' and f.connamespace = 'public'::regnamespace and f.conparentid = 0
    and not relation_is_a_known_shard(f.conrelid) and not (${isSpread("f.conrelid")} and ${isSpread("f.confrelid")})
  order by 1, 3`;

/**
 * Distributes the tables of organizations by organization, copies shared ones to all nodes, and replaces functions that
 * Citus cannot run. Changes nothing that is so already, and everything in one transaction; only the former rows on the
 * coordinator are removed afterwards.
 * @returns names of the tables that were not distributed before
 */
export async function distribute(url: string, waiting: Waiting): Promise<string[]> {
  const client = await openClient(url, "parley distribute");
  try {
    waiting.pid = await pidOf(client);
    await client.query(
      `set statement_timeout = 0; set client_min_messages = warning; set lock_timeout = ${waiting.waitMs}`,
    );
    const added = await inTransaction(client, () => distributeTables(client));
    const uncleared = (await tablesOf(client, UNCLEARED_TABLES)).map(({ name }) => name);
    // The shards have no statistics yet. They come first, because former rows show a later run what this one has not done.
    for (const table of new Set([...added, ...uncleared])) await client.query(`analyze ${table}`);
    for (const table of uncleared)
      await client.query("select truncate_local_data_after_distributing_table($1::regclass)", [table]);
    return added;
  } finally {
    await client.end();
  }
}

/** Distributes tables and replaces functions of later migrations, if the database is distributed. */
export async function keepDistributed(url: string, waiting: Waiting): Promise<void> {
  const tables = await tenantTables(url);
  if (tables.some(({ done }) => done)) await distribute(url, waiting);
}

/** Runs upkeep. While a worker is down it is left to a later start, unless a later migration has added tables. */
export async function withoutWorkers(
  url: string,
  logger: Pick<Logger, "warn"> | undefined,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (err) {
    const isConnection = /^08/.test(String((err as { code?: unknown }).code));
    const tables = isConnection ? await tenantTables(url) : [];
    if (tables.length === 0 || tables.some(({ done }) => !done)) throw err;
    logger?.warn({ err }, "a worker of Citus is down");
  }
}

/** The tables of organizations, and whether they are distributed; empty without Citus. */
async function tenantTables(url: string): Promise<Table[]> {
  const client = await openClient(url, "parley distribute");
  try {
    return (await isTrue(client, HAS_CITUS)) ? await tablesOf(client, TENANT_TABLES) : [];
  } finally {
    await client.end();
  }
}

async function distributeTables(client: pg.Client): Promise<string[]> {
  // Otherwise a command for many shards uses several connections, which must not see each other's changes.
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
  // `create table if not exists` locks all nodes even if it does, and interrupts other servers.
  const own = await tablesOf(client, OTHER_TABLES, [[HOMES, TWO_PHASE_TABLE]]);
  const isMissing = (table: string) => !own.some(({ name }) => name === table);
  if (isMissing(HOMES)) for (const statement of HOMES_TABLE) await client.query(statement);
  const shared = await tablesOf(client, OTHER_TABLES, [REFERENCE_TABLES]);
  const tenant = await tablesOf(client, TENANT_TABLES);
  const added = [...shared, ...tenant].filter(({ done }) => !done).map(({ name }) => name);
  if (added.length > 0) await distributeEach(client, shared, tenant);
  if (isMissing(TWO_PHASE_TABLE)) await client.query(`create table ${TWO_PHASE_TABLE} ()`);
  const [commits] = await tablesOf(client, OTHER_TABLES, [[TWO_PHASE_TABLE]]);
  if (!commits!.done)
    await client.query("select citus_add_local_table_to_metadata($1::regclass)", [TWO_PHASE_TABLE]);
  await client.query(`insert into ${HOMES} select id from organizations on conflict do nothing`);
  await fitPolicies(client);
  const rewrite = await readViews(async (text) => (await client.query<View>(text)).rows);
  // Functions that read views do so for the organization `owner`.
  for (const definition of FUNCTIONS) await client.query(rewrite(definition).replaceAll("$1", "owner"));
  return added;
}

/**
 * Foreign keys are dropped first, because Citus refuses them between tables of which only one is distributed, and added
 * again unless a table on the coordinator has them.
 */
async function distributeEach(
  client: pg.Client,
  shared: readonly Table[],
  tenant: readonly Table[],
): Promise<void> {
  const { rows: keys } = await client.query<ForeignKey>(FOREIGN_KEYS);
  for (const { child, name } of keys) await client.query(`alter table ${child} drop constraint ${name}`);
  for (const { name } of shared.filter(({ done }) => !done))
    await client.query("select create_reference_table($1::regclass)", [name]);
  // Those that are distributed come first, and new tables join them.
  const [first] = tenant;
  for (const { name } of tenant.filter(({ done }) => !done))
    await client.query(
      "select create_distributed_table($1::regclass, 'organization_id', colocate_with => $2)",
      [name, name === first!.name ? "none" : first!.name],
    );
  const distributed = new Set([...shared, ...tenant].map(({ name }) => name));
  for (const { child, name, definition } of keys)
    if (distributed.has(child))
      await client.query(`alter table ${child} add constraint ${name} ${definition}`);
}

interface Table {
  readonly name: string;
  readonly done: boolean;
}

const tablesOf = async (client: pg.Client, text: string, values: unknown[] = []): Promise<Table[]> =>
  (await client.query<Table>(text, values)).rows;

async function inTransaction<R>(client: pg.Client, work: () => Promise<R>): Promise<R> {
  await client.query("begin");
  try {
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}
