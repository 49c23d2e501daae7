import type pg from "pg";
import { commandOf } from "../account/audit/note";
import type { Crypto } from "../platform/crypto";
import type { AuditedOperation } from "../platform/database/tables/audited-operation";
import { TWO_PHASE_TABLE } from "../platform/database/distributed/distribute";
import { COMMIT_IN_TWO_PHASES } from "../platform/database/knex-client/client";
import { isTrue } from "../platform/database/migrations/is-distributed";
import { openClient } from "../platform/database/connections/open-client";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed-columns";

/** Most rows re-encrypted in one transaction. */
const BATCH_SIZE = 200;

/** Called after each batch. */
export type Progress = (column: string, done: number) => void;

/** Whether the digests are on the coordinator of Citus, and the secrets on its workers. */
const HAS_LOCAL_ROWS = `select to_regclass('public.${TWO_PHASE_TABLE}') is not null as answer`;

type Row = Readonly<Record<string, string>>;

/**
 * Re-encrypts every stored secret with the first key and updates the keyed digests, while the service runs. Rows that
 * already use the key are skipped, so an interrupted run can be repeated.
 * @param url database URL of the tables' owner
 * @returns the number of re-encrypted secrets
 */
export async function rotateKeys(url: string, crypto: Crypto, progress: Progress): Promise<number> {
  const client = await openClient(url, "parley keys");
  try {
    await refuseServersWithoutKey(client, crypto.ids[0]!);
    const begin = (await isTrue(client, HAS_LOCAL_ROWS)) ? ["begin", COMMIT_IN_TWO_PHASES] : ["begin"];
    let done = 0;
    for (const column of SEALED_COLUMNS)
      for (;;) {
        const some = await rotateSome(client, crypto, column, begin);
        if (some === undefined) break;
        if (some > 0) progress(`${column.table}.${column.column}`, some);
        done += some;
      }
    return done;
  } finally {
    await client.end();
  }
}

/**
 * Refuses to run while a server lacks the key. Servers list their keys in the application name of the connection that
 * they listen on.
 */
async function refuseServersWithoutKey(client: pg.Client, id: string): Promise<void> {
  const { rows } = await client.query<{ pid: number; address: string | null }>(
    `select pid, host(client_addr) as address from pg_stat_activity
     where datname = current_database() and application_name like 'parley listener%'
       and $1 <> all (string_to_array(substr(application_name, 17), ','))`,
    [id],
  );
  if (rows.length > 0)
    throw new Error(
      `A server${rows[0]!.address === null ? "" : ` at ${rows[0]!.address}`} was started without the new key and could not read secrets encrypted with it. Restart every server first, so that it has the new key and the old one: from ENCRYPTION_KEYS=new,old, or with the embedded database from the file encryption-keys in DATA_DIR. Nothing was changed.`,
    );
}

/** Re-encrypts some rows. @returns how many; undefined if none is left */
async function rotateSome(
  client: pg.Client,
  crypto: Crypto,
  column: SealedColumn,
  begin: readonly string[],
): Promise<number | undefined> {
  for (const statement of begin) await client.query(statement);
  try {
    const rows = await rowsUnderOtherKeys(client, crypto, column);
    const rotated: Row[] = [];
    for (const row of rows) if (await rotate(client, crypto, column, row)) rotated.push(row);
    await record(client, column, rotated);
    await client.query("commit");
    return rows.length === 0 ? undefined : rotated.length;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

const organizationIn = ({ table }: SealedColumn) => (table === "organizations" ? "id" : "organization_id");
const namesIn = (context: string) => [...context.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** Rows of several organizations, not locked, because Citus locks those of one at a time. */
async function rowsUnderOtherKeys(client: pg.Client, crypto: Crypto, sealed: SealedColumn): Promise<Row[]> {
  const { table, column, key, context } = sealed;
  const columns = [...new Set([...key, ...namesIn(context), column])].join(", ");
  const { rows } = await client.query<Row>(
    `select ${organizationIn(sealed)} as organization_id, ${columns} from public.${table}
     where split_part(${column}, '.', 1) <> $1 limit ${BATCH_SIZE}`,
    [crypto.ids[0]],
  );
  return rows;
}

/** @returns whether the row still had the value */
async function rotate(client: pg.Client, crypto: Crypto, sealed: SealedColumn, row: Row): Promise<boolean> {
  const { table, column } = sealed;
  const context = `${row.organization_id}/${sealed.context.replace(/\{(\w+)\}/g, (_, name: string) => row[name]!)}`;
  const plain = open(crypto, sealed, row, context);
  const key = [row.organization_id, ...sealed.key.map((name) => row[name])];
  const isRow = [organizationIn(sealed), ...sealed.key].map((name, index) => `${name} = $${index + 3}`);
  const { rowCount } = await client.query(
    `update public.${table} set ${column} = $1 where ${column} = $2 and ${isRow.join(" and ")}`,
    [crypto.seal(plain, context), row[column], ...key],
  );
  if (rowCount === 0) return false;
  await updateLookup(client, crypto, sealed, plain, key);
  return true;
}

/** Records in each organization's audit log how many of its secrets this transaction re-encrypted. */
async function record(
  client: pg.Client,
  { table, column }: SealedColumn,
  rows: readonly Row[],
): Promise<void> {
  const operations = new Map<string, AuditedOperation>();
  for (const { organization_id: id } of rows) {
    const operation = operations.get(id!) ?? commandOf("keys:rotate", "Installation");
    operation.about(null);
    operation.count({ [`${table}.${column}`]: 1 });
    operations.set(id!, operation);
  }
  for (const [organization, operation] of operations) {
    const { id, entry } = operation.entry!; // set by `about`
    await client.query("insert into public.audit_outbox (organization_id, id, entry) values ($1, $2, $3)", [
      organization,
      id,
      entry,
    ]);
  }
}

function open(crypto: Crypto, { table, column }: SealedColumn, row: Row, context: string): string {
  try {
    return crypto.open(row[column]!, context);
  } catch (error) {
    throw new Error(`${table}.${column} of ${context} cannot be read: ${(error as Error).message}`);
  }
}

/** Replaces the digest that a credential is found by, which was computed with the previous key. */
async function updateLookup(
  client: pg.Client,
  crypto: Crypto,
  { found }: SealedColumn,
  plain: string,
  key: readonly unknown[],
): Promise<void> {
  if (!found) return;
  const digests = crypto.lookups(plain).map((digest) => found.prefix + digest);
  await client.query(
    `update public.${found.table} set lookup = $1 where organization_id = $2 and ${found.by} = $3 and lookup = any($4)`,
    [digests[0], ...key, digests],
  );
}
