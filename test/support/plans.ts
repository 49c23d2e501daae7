import { expect } from "@jest/globals";
import type { Knex } from "knex";
import pg from "pg";
import type { Database } from "../../src/platform/database/database";
import type { Ports } from "../../src/platform/ports/ports";
import type { TestDatabase } from "./database";

/** A statement that the service has sent. */
export interface Sent {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly queryContext?: { readonly organizationId?: string };
}

/** A node of a plan, with what it did; the blocks are in pages of 8 kB and include those of its parts. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** The statements that match a pattern and that the service sends while some work runs. */
export async function statementsOf(
  database: Database,
  pattern: RegExp,
  work: () => Promise<unknown>,
): Promise<Sent[]> {
  const found: Sent[] = [];
  const note = (sent: Sent) => void (pattern.test(sent.sql) && found.push(sent));
  // Every statement passes through the events of a pool, which is private to the service.
  const { knex, ports } = database as unknown as {
    readonly knex: Knex;
    readonly ports: Pick<Ports, "replica">;
  };
  const pools = [knex, ...(ports.replica ? [ports.replica.db] : [])];
  for (const pool of pools) pool.on("query", note);
  await work().finally(() => pools.forEach((pool) => pool.off("query", note)));
  return found;
}

/** The database by the role that serves, whose plans may differ from the owner's because of row-level security. */
type Served = Pick<TestDatabase, "url" | "directUrl">;

/** Runs a statement again. @returns the plan by which PostgreSQL did it */
export async function planOf(
  { url, directUrl = url }: Served,
  { sql, bindings, queryContext: { organizationId = "" } = {} }: Sent,
): Promise<PlanNode> {
  const client = new pg.Client({ connectionString: directUrl });
  await client.connect();
  try {
    await client.query("select set_config('parley.organization_id', $1, false)", [organizationId]);
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, timing off, format json) ${sql}`,
      [...bindings],
    );
    return rows[0]!["QUERY PLAN"][0].Plan;
  } finally {
    await client.end();
  }
}

/** A node and all nodes below it. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Pages of 8 kB that a node and its parts read. */
export const pagesOf = (node: PlanNode): number => node["Shared Hit Blocks"] + node["Shared Read Blocks"];

/** Expects that a request reads at most a number of pages of 8 kB in a statement, and scans none of some tables. */
export async function expectBoundedReads(
  { app, database }: { readonly app: { readonly database: Database }; readonly database: Served },
  tables: RegExp,
  request: () => Promise<unknown>,
  most: number,
): Promise<void> {
  const statements = await statementsOf(app.database, tables, request);
  const reads = statements.filter(({ sql }) => /^[\s(]*(select|with)/.test(sql));
  expect(reads.length).toBeGreaterThan(0);
  for (const statement of reads) {
    const plan = await planOf(database, statement);
    const scanned = nodesOf(plan).filter(({ "Node Type": type }) => type === "Seq Scan");
    const large = scanned.filter(({ "Relation Name": name }) => name !== undefined && tables.test(name));
    expect([statement.sql, large]).toEqual([statement.sql, []]);
    expect([statement.sql, pagesOf(plan) < most]).toEqual([statement.sql, true]);
  }
}

/** Statements without checks of foreign keys, which take most of the time, and without the time limit of a role behind a pooler. */
export const unchecked = (text: string): string =>
  `set statement_timeout = 0; set session_replication_role = replica; ${text}; reset session_replication_role; reset statement_timeout`;

/** Builds the indexes of tables after some work, which takes less time than to change them for each row. */
export async function withoutIndexes(
  { query }: Pick<TestDatabase, "query">,
  tables: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> {
  const indexes = await query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index where indrelid = any($1::regclass[]) and not indisunique`,
    [tables],
  );
  for (const { name } of indexes) await query(`drop index ${name}`);
  await work();
  const text = indexes.map(({ definition }) => definition).join("; ");
  await query(
    `set statement_timeout = 0; set maintenance_work_mem = '128MB'; ${text}; reset maintenance_work_mem; reset statement_timeout`,
  );
}
