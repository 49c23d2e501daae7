import { sqlOf, statement, type Pieces } from "../../platform/database/statement";
import { COLUMNS } from "../../platform/database/tables/tables.generated";
import { snake } from "../../platform/database/values/names";
import type { Scope } from "../../platform/database/scope";
import type { Flow, WorkflowEdge, WorkflowNode } from "./flow";

/** A row in JSON, where times are texts. */
type Stored<T> = Omit<T, "createdAt" | "updatedAt"> & Record<"createdAt" | "updatedAt", string>;

interface FlowRow {
  readonly id: string;
  readonly nodes: readonly Stored<WorkflowNode>[] | null;
  readonly edges: readonly Stored<WorkflowEdge>[] | null;
}

/** One statement, because edges read after a change of the graph could lead to nodes that were not read before it. */
const FLOWS = statement<FlowRow>((pieces) => {
  const { table, db, $ } = pieces;
  const nodes = listOf("workflow_nodes", "created_at, id", pieces);
  const edges = listOf("workflow_edges", "rank, id", pieces);
  return table("workflows")
    .whereRaw("workflows.id = any(?::text[])", [$(1)])
    .select("workflows.id", db.raw(`(${nodes}) as nodes`), db.raw(`(${edges}) as edges`));
});

/** SQL for the parts of a workflow as one value. */
function listOf(name: "workflow_nodes" | "workflow_edges", order: string, { table, db }: Pieces): string {
  const fields = COLUMNS[name].map((column) => `'${column}', ${name}.${snake(column)}`).join(", ");
  const list = db.raw(`jsonb_agg(jsonb_build_object(${fields}) order by ${order})`);
  return sqlOf(table(name).whereRaw(`${name}.workflow_id = workflows.id`).select(list));
}

/** The graphs of workflows; empty ones for workflows that do not exist. */
export async function readFlows(scope: Scope, ids: readonly string[]): Promise<Flow[]> {
  const rows = await scope.read(FLOWS, [ids]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const { nodes, edges } = found.get(id) ?? {};
    return { nodes: nodes?.map(withTimes) ?? [], edges: edges?.map(withTimes) ?? [] };
  });
}

const withTimes = <T extends { readonly createdAt: string; readonly updatedAt: string }>(row: T) => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
