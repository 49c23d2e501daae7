import { currentDate } from "../../platform/clock";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { hasValues } from "../../platform/database/values/has-values";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { failAt, invalid, missing, notFound } from "../../platform/errors";
import type { Flow, WorkflowEdge, WorkflowNode } from "./flow";
import { problemsOfGraph, withDefaults, type Graph, type GraphNode } from "./graph-rules";
import { checkAssistant } from "./workflow-nodes";
import { Workflows, type Workflow } from "./workflows";

/** Whether a node or edge stays, with the id of the stored one. */
interface Part {
  readonly id?: string | null;
}

/**
 * Makes the nodes and edges of a workflow equal to the given ones. Parts that stay the same keep their rows. Runs in a
 * transaction.
 * @throws WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND, WORKFLOW_EDGE_NOT_FOUND, ASSISTANT_NOT_FOUND,
 *   TEMPLATE_READ_ONLY, BAD_USER_INPUT with a problem per invalid value
 */
export async function replaceGraph(scope: Scope, workflowId: string, graph: Graph): Promise<Workflow> {
  checkGraph(graph);
  const stored = await lockedFlow(scope, workflowId);
  checkIds("nodes", "WorkflowNode", graph.nodes, stored.nodes);
  checkIds("edges", "WorkflowEdge", graph.edges, stored.edges);
  const changed = await new Replacement(scope, workflowId, stored).run(graph);
  if (!changed) scope.operation?.changedNothing();
  scope.forget();
  return scope.of(Workflows).byId(workflowId);
}

/** @throws BAD_USER_INPUT with a problem per invalid value */
export function checkGraph(graph: Graph): void {
  const problems = problemsOfGraph(graph);
  if (problems.length > 0) throw invalid(problems);
}

/** Reads a graph that others can't change until the end of the transaction. @throws WORKFLOW_NOT_FOUND */
export async function lockedFlow(scope: Scope, workflowId: string): Promise<Flow> {
  // Waits for transactions that add nodes or edges, and for those that start chats.
  const locked = await scope.table("workflows").select("id").where({ id: workflowId }).forNoKeyUpdate();
  if (locked.length === 0) missing("Workflow", workflowId);
  return {
    nodes: await scope.table("workflow_nodes").where({ workflowId }).orderBy("id").forNoKeyUpdate(),
    edges: await scope.table("workflow_edges").where({ workflowId }).orderBy("id").forNoKeyUpdate(),
  };
}

/** A node or edge as it is to be stored. One of another service has times. */
type New<T> = T & KeptTimes & { readonly id: string };
type NewNode = New<ReturnType<typeof withDefaults.node>>;
type NewEdge = New<ReturnType<typeof withDefaults.edge>>;

/** The replacement of one graph, in few statements whatever its size. */
export class Replacement {
  constructor(
    private readonly scope: Scope,
    private readonly workflowId: string,
    private readonly stored: Flow,
  ) {}

  /**
   * @param graph whose values and ids are checked
   * @returns whether something has changed
   */
  async run(graph: Graph): Promise<boolean> {
    const { stored } = this;
    const nodes = graph.nodes.map((node) => ({ ...withDefaults.node(node), ...identityOf(node) }));
    const idOf = idsOfEnds(graph.nodes, nodes);
    const edges = graph.edges.map((edge, index) => {
      const ends = {
        fromNodeId: idOf(edge.fromNodeId, `edges.${index}.fromNodeId`),
        toNodeId: idOf(edge.toNodeId, `edges.${index}.toNodeId`),
      };
      return { ...withDefaults.edge(edge), ...ends, ...identityOf(edge) };
    });
    await this.checkAssistants(nodes);
    // Edges that stay leave nodes before these go, because a node takes its edges with it.
    const changes = [
      await this.remove("workflow_edges", edges, stored.edges),
      await this.put("workflow_nodes", nodes, stored.nodes),
      await this.put("workflow_edges", edges, stored.edges),
      await this.remove("workflow_nodes", nodes, stored.nodes),
    ];
    return changes.includes(true);
  }

  /** Checks the assistants that nodes get; a node may keep one that has been deleted. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
  private async checkAssistants(nodes: readonly Pick<WorkflowNode, "id" | "assistantId">[]): Promise<void> {
    const before = new Map(this.stored.nodes.map(({ id, assistantId }) => [id, assistantId]));
    const places = new Map<string, string>();
    for (const [index, { id, assistantId }] of nodes.entries())
      if (assistantId !== null && assistantId !== before.get(id) && !places.has(assistantId))
        places.set(assistantId, `nodes.${index}.assistantId`);
    const checks = [...places].map(([id, path]) =>
      checkAssistant(this.scope, id).then(
        () => undefined,
        (error: unknown) => ({ path, error }),
      ),
    );
    const [failed] = (await Promise.all(checks)).filter((one) => one !== undefined);
    if (failed) failAt(failed.path, failed.error);
  }

  /** Inserts new parts and updates those that differ. Existing ones keep the time of their creation. */
  private async put(
    table: "workflow_nodes" | "workflow_edges",
    parts: readonly (NewNode | NewEdge)[],
    stored: readonly (WorkflowNode | WorkflowEdge)[],
  ): Promise<boolean> {
    const before = new Map<string, object>(stored.map((one) => [one.id, one]));
    const { workflowId } = this;
    const now = currentDate();
    const changed = parts.filter(({ createdAt: _, ...part }) => !hasValues(before.get(part.id) ?? {}, part));
    if (changed.length === 0) return false;
    const rows = changed.map(({ createdAt, updatedAt, ...part }) => ({
      ...part,
      workflowId,
      ...(before.has(part.id) ? { updatedAt: updatedAt ?? now } : timesOfNew({ createdAt, updatedAt })),
    }));
    const { id: _, createdAt: __, ...columns } = changed[0]!;
    const over = { key: ["workflowId", "id"], columns: [...new Set([...Object.keys(columns), "updatedAt"])] };
    await this.scope.insertAll(table, rows as never, over); // rows have all columns of the table
    return true;
  }

  private async remove(
    table: "workflow_nodes" | "workflow_edges",
    parts: readonly { readonly id: string }[],
    stored: readonly { readonly id: string }[],
  ): Promise<boolean> {
    const kept = new Set(parts.map(({ id }) => id));
    const ids = stored.map(({ id }) => id).filter((id) => !kept.has(id));
    if (ids.length === 0) return false;
    const { workflowId } = this;
    await this.scope.table(table).where({ workflowId }).whereIn("id", ids).delete();
    return true;
  }
}

/** The id and times of a part; a new one without an id gets one. */
const identityOf = ({ id, createdAt, updatedAt }: Part & KeptTimes) => ({
  id: id ?? newId(),
  ...(createdAt && { createdAt }),
  ...(updatedAt && { updatedAt }),
});

/** @throws WORKFLOW_NODE_NOT_FOUND, WORKFLOW_EDGE_NOT_FOUND */
function checkIds(
  name: "nodes" | "edges",
  what: "WorkflowNode" | "WorkflowEdge",
  parts: readonly Part[],
  stored: readonly { readonly id: string }[],
): void {
  const known = new Set(stored.map(({ id }) => id));
  for (const [index, { id }] of parts.entries())
    if (id != null && !known.has(id)) failAt(`${name}.${index}.id`, notFound(what, id));
}

/** Finds the id of a node by its id or by its name in the input. @throws WORKFLOW_NODE_NOT_FOUND */
function idsOfEnds(given: readonly GraphNode[], nodes: readonly { readonly id: string }[]) {
  const ids = new Map(nodes.map(({ id }) => [id, id]));
  for (const [index, { ref }] of given.entries()) if (ref != null) ids.set(ref, nodes[index]!.id);
  return (end: string, path: string): string => ids.get(end) ?? failAt(path, notFound("WorkflowNode", end));
}
