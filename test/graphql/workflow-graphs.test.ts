import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import pg from "pg";
import { useApp } from "../support/app";
import { recording } from "../support/audit";
import { someoneWaits } from "../support/database";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { buildFlow, newFlow } from "../support/flows";
import { until } from "../support/until";

const running = useApp();
const RUNS = Number(process.env.FUZZ_RUNS ?? 12);

const NODE = "type name instructions functionName arguments resultVariable message endReason metadata";
const EDGE = "kind rank description collects variable operator value functionName";
const GRAPH = `nodes { id updatedAt createdAt assistant { id } ${NODE} } edges { id updatedAt fromNodeId toNodeId ${EDGE} }`;
const REPLACE = `mutation ($id: ID!, $input: WorkflowGraphInput!) { replaceWorkflowGraph(id: $id, input: $input) { id ${GRAPH} } }`;

type Fields = Readonly<Record<string, unknown>>;
type Part = Fields & { readonly id: string };
interface Graph {
  readonly nodes: readonly (Part & { readonly name: string; readonly type: string })[];
  readonly edges: readonly (Part & { readonly fromNodeId: string; readonly toNodeId: string })[];
}

let assistantId: string;
let organizationId: string;
beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  ({ id: organizationId } = await running.api.get("/rest/v1/organization", 200));
});

const graphOf = async (id: string): Promise<Graph> =>
  (await running.api.gql(`query ($id: ID!) { workflow(id: $id) { ${GRAPH} } }`, { id })).workflow;
const replace = async (id: string, input: object): Promise<Graph> =>
  (await running.api.gql(REPLACE, { id, input })).replaceWorkflowGraph;
const refusal = async (id: string, input: object) => {
  const { extensions, message } = await running.api.gqlError(REPLACE, { id, input });
  return { ...extensions, message } as {
    code: string;
    message: string;
    details?: { path: string; message: string }[];
  };
};
const withoutTimes = <T extends object>(part: T) => ({ ...part, updatedAt: undefined, createdAt: undefined });

/** The input that a graph is equal to. */
const inputOf = ({ nodes, edges }: Graph) => ({
  nodes: nodes.map(({ createdAt: _c, updatedAt: _u, assistant, ...node }) => ({
    ...node,
    assistantId: (assistant as { id: string } | null)?.id ?? null,
  })),
  edges: edges.map(({ updatedAt: _, ...edge }) => edge),
});

describe("replaceWorkflowGraph", () => {
  test("keeps parts with their ids, adds new ones in the given order, and deletes those that are not listed", async () => {
    const { workflowId, nodes, edges } = await buildFlow(running.api, { assistantId });
    const after = await replace(workflowId, {
      nodes: [
        { id: nodes.start, type: "START", name: "Start" },
        { ref: "ask", type: "PROMPT", name: "Ask", assistantId, instructions: "Ask.", metadata: { x: 1 } },
        { ref: "bye", type: "END", name: "Bye", message: "Bye!", endReason: "done" },
      ],
      edges: [
        { fromNodeId: "ask", toNodeId: "bye", kind: "MODEL", description: "Done.", collects: ["day"] },
        { fromNodeId: "ask", toNodeId: "ask" },
        { id: edges[0], fromNodeId: nodes.start, toNodeId: "ask" },
      ],
    });
    const [start, ask, bye] = after.nodes;
    expect(after.nodes.map(({ name }) => name)).toEqual(["Start", "Ask", "Bye"]);
    expect(start!.id).toBe(nodes.start);
    expect(ask).toMatchObject({ assistant: { id: assistantId }, instructions: "Ask.", metadata: { x: 1 } });
    expect(bye).toMatchObject({ message: "Bye!", endReason: "done", assistant: null, arguments: {} });
    expect(after.edges.map((edge) => [edge.fromNodeId, edge.toNodeId, edge.kind, edge.collects])).toEqual([
      [start!.id, ask!.id, "DEFAULT", []],
      [ask!.id, bye!.id, "MODEL", ["day"]],
      [ask!.id, ask!.id, "DEFAULT", []],
    ]);
    expect(after.edges[0]!.id).toBe(edges[0]);
    expect(await graphOf(workflowId)).toMatchObject({ nodes: after.nodes, edges: after.edges });
  });

  test("gives fields that are left out their defaults", async () => {
    const { workflowId, nodes, edges } = await buildFlow(running.api, { assistantId });
    const model = { id: edges[1], fromNodeId: nodes.talk, toNodeId: nodes.end, rank: 4, collects: ["a"] };
    const whole = inputOf(await graphOf(workflowId));
    await replace(workflowId, { nodes: whole.nodes, edges: [{ ...model, kind: "MODEL", description: "d" }] });
    const after = await replace(workflowId, {
      nodes: whole.nodes.map(({ id, name, type }) => ({ id, name, type })),
      edges: [{ id: edges[1], fromNodeId: nodes.talk, toNodeId: nodes.end }],
    });
    expect(after.nodes.map(({ assistant }) => assistant)).toEqual([null, null, null]);
    expect(after.edges).toMatchObject([{ kind: "DEFAULT", rank: 0, collects: [], description: null }]);
  });

  test("writes only parts that differ, and an audit entry only if one does", async () => {
    const { workflowId, nodes } = await buildFlow(running.api, { assistantId });
    const before = await graphOf(workflowId);
    const input = inputOf(before);
    const same = await recording(running.database, organizationId, () => replace(workflowId, input));
    expect(same.rows).toEqual([]);
    expect(same.result).toMatchObject({ nodes: before.nodes, edges: before.edges });
    const changed = await recording(running.database, organizationId, () =>
      replace(workflowId, {
        ...input,
        nodes: input.nodes.map((node) => (node.id === nodes.end ? { ...node, message: "Bye." } : node)),
      }),
    );
    expect(changed.rows).toMatchObject([
      { operation: "replaceWorkflowGraph", recordType: "Workflow", recordId: workflowId },
    ]);
    const changes = changed.result.nodes.map(({ updatedAt }, index) => [
      updatedAt !== before.nodes[index]!.updatedAt,
      changed.result.nodes[index]!.createdAt === before.nodes[index]!.createdAt,
    ]);
    expect(changes).toEqual([
      [false, true],
      [false, true],
      [true, true],
    ]);
    expect(changed.result.edges).toEqual(before.edges);
  });

  const START = { ref: "a", type: "START", name: "A" };
  const END = { ref: "b", type: "END", name: "B" };
  test.each<[nodes: object[], edges: object[], paths: string[]]>([
    [[{ ...START, resultVariable: "a b" }], [], ["nodes.0.resultVariable"]],
    [[START, { ...END, name: "" }], [], ["nodes.1.name"]],
    [[START, { ...END, ref: "a" }], [], ["nodes.1.ref"]],
    [[{ ...START, ref: "" }], [], ["nodes.0.ref"]],
    [[START], [{ fromNodeId: "a", toNodeId: "a", kind: "MODEL" }], ["edges.0.description"]],
    [
      [START, END],
      [
        { fromNodeId: "a", toNodeId: "b" },
        { fromNodeId: "a", toNodeId: "b", kind: "VARIABLE", variable: "v w", operator: "EQUALS" },
      ],
      ["edges.1.value", "edges.1.variable"],
    ],
    [[START], [{ fromNodeId: "a", toNodeId: "a", collects: ["fine", "not fine"] }], ["edges.0.collects.1"]],
    [Array.from({ length: 201 }, () => ({ type: "END", name: "E" })), [], ["nodes"]],
    [[START], Array.from({ length: 1_001 }, () => ({ fromNodeId: "a", toNodeId: "a" })), ["edges"]],
  ])("refuses invalid values with their paths: %#", async (nodes, edges, paths) => {
    const { workflowId } = await buildFlow(running.api, { assistantId });
    const before = await graphOf(workflowId);
    const { code, details } = await refusal(workflowId, { nodes, edges });
    expect([code, details!.map(({ path }) => path)]).toEqual([
      "BAD_USER_INPUT",
      paths.map((path) => `input.${path}`),
    ]);
    expect(await graphOf(workflowId)).toEqual(before);
  });

  test("refuses an id that comes twice", async () => {
    const { workflowId } = await buildFlow(running.api, { assistantId });
    const { nodes, edges } = inputOf(await graphOf(workflowId));
    const { details } = await refusal(workflowId, {
      nodes: [...nodes, nodes[0]],
      edges: [...edges, edges[1]],
    });
    expect(details!.map(({ path }) => path)).toEqual(["input.nodes.3.id", "input.edges.2.id"]);
  });

  test("refuses what is not of the workflow, and changes nothing", async () => {
    const [{ workflowId, nodes }, other] = [
      await buildFlow(running.api, { assistantId }),
      await buildFlow(running.api, { assistantId }),
    ];
    const before = await graphOf(workflowId);
    const theirs = await graphOf(other.workflowId);
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const whole = inputOf(before);
    const node = (change: object) => ({ ...whole, nodes: [...whole.nodes, change] });
    const edge = (change: object) => ({ ...whole, edges: [whole.edges[0], change] });
    const rows: [input: object, code: string, path: string][] = [
      [node({ ...END, id: other.nodes.end }), "WORKFLOW_NODE_NOT_FOUND", "nodes.3.id"],
      [node({ ...END, id: UNKNOWN_ID }), "WORKFLOW_NODE_NOT_FOUND", "nodes.3.id"],
      [node({ ...END, assistantId: UNKNOWN_ID }), "ASSISTANT_NOT_FOUND", "nodes.3.assistantId"],
      [node({ ...END, assistantId: data[0].id }), "TEMPLATE_READ_ONLY", "nodes.3.assistantId"],
      [
        edge({ id: other.edges[0], fromNodeId: nodes.start, toNodeId: nodes.end }),
        "WORKFLOW_EDGE_NOT_FOUND",
        "edges.1.id",
      ],
      [
        edge({ fromNodeId: nodes.start, toNodeId: other.nodes.end }),
        "WORKFLOW_NODE_NOT_FOUND",
        "edges.1.toNodeId",
      ],
      [edge({ fromNodeId: "c", toNodeId: nodes.end }), "WORKFLOW_NODE_NOT_FOUND", "edges.1.fromNodeId"],
    ];
    for (const [input, code, path] of rows) {
      const found = await refusal(workflowId, input);
      expect([found.code, found.details?.map((one) => one.path)]).toEqual([code, [`input.${path}`]]);
    }
    expect((await refusal(UNKNOWN_ID, { nodes: [], edges: [] })).code).toBe("WORKFLOW_NOT_FOUND");
    const stranger = await running.otherOrganization();
    const { extensions } = await stranger.api.gqlError(REPLACE, { id: workflowId, input: whole });
    expect(extensions.code).toBe("WORKFLOW_NOT_FOUND");
    expect([await graphOf(workflowId), await graphOf(other.workflowId)]).toEqual([before, theirs]);
  });

  test("lets a node keep an assistant that has been deleted", async () => {
    const gone = await newAssistant(running.api);
    const { workflowId, nodes } = await buildFlow(running.api, { assistantId: gone });
    await running.api.delete(`/rest/v1/assistants/${gone}`, 200);
    const input = inputOf(await graphOf(workflowId));
    const renamed = input.nodes.map((node) => (node.id === nodes.talk ? { ...node, name: "New" } : node));
    expect((await replace(workflowId, { ...input, nodes: renamed })).nodes[1]).toMatchObject({
      name: "New",
      assistant: { id: gone },
    });
  });

  test("leaves the graph of one of two callers at the same time", async () => {
    const { workflowId } = await newFlow(running.api, {});
    const graph = (name: string, size: number) => ({
      nodes: Array.from({ length: size }, (_, index) => ({ ref: `${index}`, type: "PROMPT", name })),
      edges: Array.from({ length: size }, (_, index) => ({
        fromNodeId: `${index}`,
        toNodeId: `${(index + 1) % size}`,
        rank: size,
      })),
    });
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        replace(workflowId, graph("one", 5)),
        replace(workflowId, graph("two", 7)),
        replace(workflowId, graph("three", 9)),
      ]);
      const after = await graphOf(workflowId);
      expect(answers).toContainEqual({ id: workflowId, ...after });
      expect(new Set(after.edges.map(({ rank }) => rank))).toEqual(new Set([after.nodes.length]));
    }
  });

  test("takes as many statements for many nodes and edges as for few", async () => {
    const { workflowId } = await newFlow(running.api, {});
    const graph = (size: number) => ({
      nodes: Array.from({ length: size }, (_, index) => ({
        ...{ ref: `${index}`, type: "PROMPT", name: `${size}`, assistantId },
      })),
      edges: Array.from({ length: 2 * size }, (_, index) => ({
        fromNodeId: `${index % size}`,
        toNodeId: `${(7 * index) % size}`,
      })),
    });
    const counted = async (size: number) => {
      let count = 0;
      const listen = () => void count++;
      const { prototype } = pg.Client;
      const { query } = prototype;
      prototype.query = function (this: pg.Client, ...args: never[]) {
        listen();
        return (query as (...all: never[]) => unknown).apply(this, args);
      } as never;
      await replace(workflowId, graph(size)).finally(() => (prototype.query = query));
      return count;
    };
    await counted(2);
    const few = await counted(3);
    expect(few).toBeGreaterThan(3);
    expect(await counted(200)).toBe(few);
    expect((await graphOf(workflowId)).edges).toHaveLength(400);
  });
});

test("a graph is read as it was at one moment", async () => {
  const { workflowId, nodes } = await buildFlow(running.api, { assistantId });
  const holder = new pg.Client({ connectionString: running.database.ownerUrl });
  await holder.connect();
  await holder.query("begin; lock table workflow_edges in access exclusive mode");
  const reading = graphOf(workflowId);
  await until(() => someoneWaits(running.database, "%workflow_edges%"));
  await holder.query("delete from workflow_nodes where id = $1", [nodes.talk]);
  await holder.query("commit");
  await holder.end();
  const { nodes: found, edges } = await reading;
  expect([found.map(({ name }) => name), edges]).toEqual([["start", "end"], []]);
});

/** Graphs whose edges name nodes by their places. */
interface Drawn {
  readonly nodes: readonly Fields[];
  readonly edges: readonly (Fields & { readonly from: number; readonly to: number })[];
}

const NAMES = fc.constantFrom("a", "b", "größe");
const TEXT = fc.constantFrom("t", "{a} – „b“", "  x\n");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value);
const drawnNode = fc.record(
  {
    type: fc.constantFrom("START", "PROMPT", "ACTION", "CONDITION", "END"),
    name: TEXT,
    instructions: maybe(TEXT),
    functionName: maybe(NAMES),
    arguments: fc.constantFrom({}, { a: [1, { b: null }] }, { c: "{a}" }),
    resultVariable: maybe(NAMES),
    message: maybe(TEXT),
    endReason: maybe(NAMES),
    metadata: fc.constantFrom({}, { x: 0.5, y: -1 }),
  },
  { requiredKeys: ["type", "name"] },
);
const drawnEdge = (size: number) => {
  const place = fc.nat({ max: size - 1 });
  const common = { from: place, to: place, rank: fc.integer({ min: -2, max: 2 }) };
  return fc.oneof(
    fc.record({ ...common, kind: fc.constant("DEFAULT") }, { requiredKeys: ["from", "to"] }),
    fc.record(
      {
        ...common,
        kind: fc.constant("MODEL"),
        description: TEXT,
        collects: fc.array(fc.constantFrom("a", "b")),
      },
      { requiredKeys: ["from", "to", "kind", "description"] },
    ),
    fc.record({
      ...common,
      kind: fc.constant("VARIABLE"),
      variable: NAMES,
      operator: fc.constantFrom("EQUALS", "LESS"),
      value: fc.constantFrom("", "5"),
    }),
  );
};
const drawn: fc.Arbitrary<Drawn> = fc.array(drawnNode, { maxLength: 6 }).chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    edges: nodes.length === 0 ? fc.constant([]) : fc.array(drawnEdge(nodes.length), { maxLength: 10 }),
  }),
);

const CREATED = {
  node: "mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { part: createWorkflowNode(workflowId: $id, input: $input) { id } }",
  edge: "mutation ($id: ID!, $input: CreateWorkflowEdgeInput!) { part: createWorkflowEdge(workflowId: $id, input: $input) { id } }",
};
const create = async (kind: "node" | "edge", id: string, input: object): Promise<string> =>
  (await running.api.gql(CREATED[kind], { id, input })).part.id;

/** Builds a graph by single mutations. */
async function built({ nodes, edges }: Drawn): Promise<{ id: string; nodes: string[]; edges: string[] }> {
  const { workflowId: id } = await newFlow(running.api, {});
  const made: string[] = [];
  for (const node of nodes) made.push(await create("node", id, node));
  const drawn: string[] = [];
  for (const { from, to, ...edge } of edges)
    drawn.push(await create("edge", id, { ...edge, fromNodeId: made[from], toNodeId: made[to] }));
  return { id, nodes: made, edges: drawn };
}

/** A graph with places in place of ids, in an order that ids don't change. */
function shape({ nodes, edges }: Graph, order: readonly string[]) {
  const placed = order.map((id) => nodes.find((node) => node.id === id));
  expect(nodes).toHaveLength(order.length);
  const place = (id: string) => order.indexOf(id);
  const texts = edges.map(({ id: _i, fromNodeId, toNodeId, ...edge }) =>
    JSON.stringify([place(fromNodeId), place(toNodeId), withoutTimes(edge)]),
  );
  return { nodes: placed.map((node) => ({ ...withoutTimes(node!), id: undefined })), edges: texts.sort() };
}

test("any graph becomes any other one, as single mutations make it, and parts that stay keep their ids", async () => {
  await fc.assert(
    fc.asyncProperty(
      drawn,
      drawn,
      fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
      async (first, second, keepNodes, keepEdges) => {
        const stored = await built(first);
        const kept = (ids: readonly string[], keeps: readonly boolean[], index: number) =>
          keeps[index] ? ids[index] : undefined;
        const names = second.nodes.map((_, index) => kept(stored.nodes, keepNodes, index) ?? `ref ${index}`);
        const after = await replace(stored.id, {
          nodes: second.nodes.map((node, index) => {
            const id = kept(stored.nodes, keepNodes, index);
            return id === undefined ? { ...node, ref: names[index] } : { ...node, id };
          }),
          edges: second.edges.map(({ from, to, ...edge }, index) => {
            const id = kept(stored.edges, keepEdges, index);
            return { ...edge, ...(id && { id }), fromNodeId: names[from], toNodeId: names[to] };
          }),
        });
        const before = new Set(stored.nodes);
        const fresh = after.nodes.filter(({ id }) => !before.has(id)).map(({ id }) => id);
        const order = names.map((name) => (before.has(name) ? name : fresh.shift()!));
        const edgesKept = second.edges.flatMap((_, index) => kept(stored.edges, keepEdges, index) ?? []);
        expect(after.edges.map(({ id }) => id)).toEqual(expect.arrayContaining(edgesKept));
        const single = await built(second);
        expect(shape(after, order)).toEqual(shape(await graphOf(single.id), single.nodes));
        const again = await replace(stored.id, inputOf(after));
        expect(again).toEqual(after);
      },
    ),
    { numRuns: RUNS },
  );
});
