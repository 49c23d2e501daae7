import type { Knex } from "knex";
import type { Database } from "../../src/platform/database/database";
import type { TestDatabase } from "./database";

/** A statement that the service has sent. */
export interface Sent {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** A node of a plan, with what it did; the blocks are in pages of 8 kB and include those of its parts. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
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
  // Every statement passes through the events of the pool, which is private to the service.
  const { knex } = database as unknown as { readonly knex: Knex };
  knex.on("query", note);
  await work().finally(() => knex.off("query", note));
  return found;
}

/** Runs a statement again. @returns the plan by which PostgreSQL did it */
export async function planOf(
  { query }: Pick<TestDatabase, "query">,
  { sql, bindings }: Sent,
): Promise<PlanNode> {
  const [row] = await query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, timing off, format json) ${sql}`,
    [...bindings],
  );
  return row!["QUERY PLAN"][0].Plan;
}

/** A node and all nodes below it. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Statements without checks of foreign keys, which take most of the time, and without the time limit of a role behind a pooler. */
export const unchecked = (text: string): string =>
  `set statement_timeout = 0; set session_replication_role = replica; ${text}; reset session_replication_role; reset statement_timeout`;
