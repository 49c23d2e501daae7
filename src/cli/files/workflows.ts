import type { Schemas } from "./check";
import { RequestError, type Connection } from "./connection";
import { shortEdge, shortNode, type Graph, type NamedGraph, type Nodes } from "./graph";
import { GraphChange, type Stored } from "./graph-change";
import type { Fields } from "./kinds";
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
      assistantId: assistant?.id ?? null,
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

interface Checked extends Stored {
  readonly problems: readonly ProblemRow[];
}

const CHECKED = "nodes { id } edges { id } problems { nodeId edgeId message }";
const CHECK = `query ($id: ID!) { workflow(id: $id) { ${CHECKED} } }`;
const REPLACE = `mutation ($id: ID!, $input: WorkflowGraphInput!) { workflow: replaceWorkflowGraph(id: $id, input: $input) { ${CHECKED} } }`;

/**
 * Changes a workflow: its graph at once.
 * @param idOf the id of an assistant, by its key
 * @returns the problems that prevent it from running
 * @throws RequestError
 */
export async function updateWorkflow(
  { connection }: Reading,
  id: string,
  { nodes, edges, ...input }: Fields,
  idOf: (assistant: string) => string,
  known: NamedGraph = { graph: { nodes: [], edges: [] }, names: new Map() },
): Promise<readonly Remark[]> {
  const change = nodes
    ? new GraphChange(nodes as Nodes, edges as readonly Fields[] | undefined, known, idOf)
    : undefined;
  const replaced = change && (await replaceGraph(connection, id, change));
  if (Object.keys(input).length > 0) await connection.graphql(UPDATE, { id, input });
  if (replaced) return remarksOf(replaced, change.placesIn(replaced));
  const { workflow } = await connection.graphql<{ workflow: Checked }>(CHECK, { id });
  const places = [...known.names].map(([id, name]): [string, Path] => [id, ["nodes", name]]);
  return remarksOf(workflow, new Map(places));
}

const remarksOf = ({ problems }: Checked, places: ReadonlyMap<string, Path>): Remark[] =>
  problems.map(({ nodeId, edgeId, message }) => ({
    at: places.get(edgeId ?? "") ?? places.get(nodeId ?? "") ?? ["nodes"],
    message,
  }));

/** @throws RequestError, Error for a server of an earlier version */
async function replaceGraph(connection: Connection, id: string, change: GraphChange): Promise<Checked> {
  try {
    const { input } = change;
    return (await connection.graphql<{ workflow: Checked }>(REPLACE, { id, input })).workflow;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error.code === "GRAPHQL_VALIDATION_FAILED")
      throw new Error(
        "The server cannot change the graph of a workflow at once. Upgrade the server to the version of this command.",
      );
    throw change.located(error);
  }
}
