import type { Schemas } from "./check";
import { about, type Connection } from "./connection";
import { equal } from "./changes";
import { shortEdge, shortNode, wholeEdge, wholeNode, withEnds, type Graph, type Part } from "./graph";
import { textOf, type Fields } from "./kinds";
import type { Reading, RemoteRecord } from "./remote";
import type { Path, Remark } from "./yaml-file";

type PartRow = Fields & { readonly id: string };

interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly project: { readonly name: string } | null;
  readonly nodes: readonly (PartRow & { readonly assistant: { readonly id: string } | null })[];
  readonly edges: readonly (PartRow & { readonly fromNodeId: string; readonly toNodeId: string })[];
}

interface Connections {
  readonly workflowsConnection: {
    readonly nodes: readonly Row[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

interface FileSchema {
  readonly properties: {
    readonly nodes: { readonly additionalProperties: { readonly properties: object } };
    readonly edges: { readonly items: { readonly properties: object } };
  };
}

const PAGE = 10;

/** The fields of nodes and edges that the server knows, without references. */
function fieldNames(schemas: Schemas): {
  readonly node: readonly string[];
  readonly edge: readonly string[];
} {
  const { nodes, edges } = (schemas.workflow as FileSchema).properties;
  const without = (fields: object, ...names: string[]) =>
    Object.keys(fields).filter((name) => !names.includes(name));
  return {
    node: without(nodes.additionalProperties.properties, "assistant"),
    edge: without(edges.items.properties, "from", "to"),
  };
}

function selectionOf(schemas: Schemas): string {
  const { node, edge } = fieldNames(schemas);
  return `id key name description project { name }
    nodes { id assistant { id } ${node.join(" ")} }
    edges { id fromNodeId toNodeId ${edge.join(" ")} }`;
}

/** Reads all workflows, oldest first. @param keys of live assistants by their ids. @throws RequestError */
export async function readWorkflows(
  { connection, schemas }: Reading,
  keys: ReadonlyMap<string, string>,
): Promise<RemoteRecord[]> {
  const query = `query ($after: String) { workflowsConnection(first: ${PAGE}, after: $after, orderBy: OLDEST_FIRST) {
    nodes { ${selectionOf(schemas)} } pageInfo { hasNextPage endCursor } } }`;
  const records: RemoteRecord[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Connections = await connection.graphql<Connections>(query, { after });
    const { workflowsConnection } = page;
    for (const row of workflowsConnection.nodes) records.push(recordOf(row, keys));
    const { hasNextPage, endCursor } = workflowsConnection.pageInfo;
    if (!hasNextPage) return records;
    after = endCursor;
  }
}

/** Reads one workflow. @throws RequestError */
export async function readWorkflow(
  { connection, schemas }: Reading,
  id: string,
  keys: ReadonlyMap<string, string>,
): Promise<RemoteRecord> {
  const query = `query ($id: ID!) { workflow(id: $id) { ${selectionOf(schemas)} } }`;
  const { workflow } = await connection.graphql<{ workflow: Row }>(query, { id });
  return recordOf(workflow, keys);
}

function recordOf(row: Row, keys: ReadonlyMap<string, string>): RemoteRecord {
  const { id, key, name, description, project } = row;
  const graph: Graph = {
    nodes: row.nodes.map(({ id, assistant, ...fields }) => ({
      id,
      fields: shortNode({ ...fields, assistant: keys.get(assistant?.id ?? "") ?? null }),
    })),
    edges: row.edges.map(({ id, fromNodeId, toNodeId, ...fields }) => ({
      id,
      fields: { from: fromNodeId, to: toNodeId, ...shortEdge(fields) },
    })),
  };
  const fields = { key, name, description, project: project?.name ?? null, graph };
  const nodesWithoutAssistant = row.nodes
    .filter(({ assistant }) => assistant && !keys.has(assistant.id))
    .map((node) => String(node.name));
  return { kind: "workflow", id, key, label: name, fields, nodesWithoutAssistant };
}

const CREATE = "mutation ($input: CreateWorkflowInput!) { record: createWorkflow(input: $input) { id } }";
const UPDATE =
  "mutation ($id: ID!, $input: UpdateWorkflowInput!) { updateWorkflow(id: $id, input: $input) { id } }";

/** Creates a workflow without nodes. @returns its id. @throws RequestError */
export async function createWorkflow(connection: Connection, fields: Fields): Promise<string> {
  const { nodes: _n, edges: _e, ...input } = fields;
  const { record } = await connection.graphql<{ record: { id: string } }>(CREATE, { input });
  return record.id;
}

interface ProblemRow {
  readonly nodeId: string | null;
  readonly edgeId: string | null;
  readonly message: string;
}

const PROBLEMS = "query ($id: ID!) { workflow(id: $id) { problems { nodeId edgeId message } } }";

/** The stored graph, and the names of its nodes in the file. */
export interface NamedGraph {
  readonly graph: Graph;
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Changes a workflow.
 * @param idOf the id of an assistant, by its key
 * @returns the problems that prevent it from running
 * @throws RequestError
 */
export async function updateWorkflow(
  { connection, schemas }: Reading,
  id: string,
  changed: Fields,
  idOf: (assistant: string) => string,
  { graph, names }: NamedGraph = { graph: { nodes: [], edges: [] }, names: new Map() },
): Promise<readonly Remark[]> {
  const { nodes, edges, ...input } = changed;
  if (Object.keys(input).length > 0) await connection.graphql(UPDATE, { id, input });
  const change = new GraphChange(connection, id, fieldNames(schemas), idOf, new Map(names));
  const wanted = nodes as Readonly<Record<string, Fields>> | undefined;
  if (wanted) await change.nodes(wanted, graph);
  if (edges) await change.edges(edges as readonly Fields[], graph);
  if (wanted)
    for (const node of graph.nodes) if (!wanted[names.get(node.id)!]) await change.remove("Node", node);
  return change.problems();
}

/** Changes nodes and edges so that each statement leaves a workflow that can be read. */
class GraphChange {
  constructor(
    private readonly connection: Connection,
    private readonly workflowId: string,
    private readonly fields: ReturnType<typeof fieldNames>,
    private readonly idOf: (assistant: string) => string,
    /** Names of nodes by their ids. */
    private readonly names: Map<string, string>,
  ) {}

  /** Places of edges in the file, by their ids. */
  private readonly places = new Map<string, Path>();

  /** Adds and changes nodes. They are removed after the edges. */
  async nodes(wanted: Readonly<Record<string, Fields>>, { nodes }: Graph): Promise<void> {
    for (const [name, node] of Object.entries(wanted)) {
      const old = nodes.find(({ id }) => this.names.get(id) === name);
      if (old && equal(old.fields, shortNode(node))) continue;
      const { assistant, ...fields } = node;
      const assistantId = assistant == null ? null : this.idOf(textOf(assistant));
      const input = { ...wholeNode(fields, this.fields.node), assistantId };
      this.names.set(await this.put("Node", ["nodes", name], old, input), name);
    }
  }

  async edges(wanted: readonly Fields[], { edges }: Graph): Promise<void> {
    const left = [...edges];
    const missing = [...wanted.entries()].filter(([index, edge]) => {
      const same = take(left, (old) => equal(withEnds(old.fields, this.names), shortEdge(edge)));
      if (same) this.places.set(same.id, ["edges", index]);
      return !same;
    });
    const ids = new Map([...this.names].map(([id, name]) => [name, id]));
    for (const [index, edge] of missing) {
      const { from, to, ...fields } = edge;
      const ends = { fromNodeId: ids.get(String(from)), toNodeId: ids.get(String(to)) };
      const old = take(left, ({ fields }) => fields.from === ends.fromNodeId && fields.to === ends.toNodeId);
      const input = { ...wholeEdge(fields, this.fields.edge), ...ends };
      this.places.set(await this.put("Edge", ["edges", index], old, input), ["edges", index]);
    }
    for (const old of left) await this.remove("Edge", old);
  }

  async problems(): Promise<readonly Remark[]> {
    const { workflow } = await this.connection.graphql<{ workflow: { problems: readonly ProblemRow[] } }>(
      PROBLEMS,
      { id: this.workflowId },
    );
    return workflow.problems.map(({ nodeId, edgeId, message }) => {
      const name = this.names.get(nodeId ?? "");
      const place = name === undefined ? ["nodes"] : ["nodes", name];
      return { at: this.places.get(edgeId ?? "") ?? place, message };
    });
  }

  async remove(part: "Node" | "Edge", { id }: Part): Promise<void> {
    await this.connection.graphql(`mutation ($id: ID!) { deleteWorkflow${part}(id: $id) { id } }`, { id });
  }

  private async put(part: "Node" | "Edge", at: Path, old: Part | undefined, input: Fields): Promise<string> {
    const update = `mutation ($id: ID!, $input: UpdateWorkflow${part}Input!) { part: updateWorkflow${part}(id: $id, input: $input) { id } }`;
    const create = `mutation ($id: ID!, $input: CreateWorkflow${part}Input!) { part: createWorkflow${part}(workflowId: $id, input: $input) { id } }`;
    const variables = { id: old?.id ?? this.workflowId, input };
    const query = old ? update : create;
    const answer = await about(at, () => this.connection.graphql<{ part: { id: string } }>(query, variables));
    return answer.part.id;
  }
}

/** Removes the first match from a list. */
function take<T>(list: T[], matches: (one: T) => boolean): T | undefined {
  const index = list.findIndex(matches);
  return index < 0 ? undefined : list.splice(index, 1)[0];
}
