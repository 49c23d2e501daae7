import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { newFlow, problemsOf, type Edge } from "../support/flows";

const running = useApp();

let assistantId: string;
let deleted: string;
beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  await running.api.patch(
    `/rest/v1/assistants/${assistantId}/sms`,
    { functions: [{ name: "look_up" }] },
    200,
  );
  deleted = await newAssistant(running.api);
}, 30_000);

const START = { type: "START" };
const END = { type: "END" };
const TALK = { type: "PROMPT", assistantId: "ours" };
const ACTION = { type: "ACTION", assistantId: "ours", functionName: "look_up" };
const CONDITION = { type: "CONDITION" };
const BY = { kind: "MODEL", description: "When it fits." };
const IF = { kind: "VARIABLE", variable: "a", operator: "IS_SET" };
type Nodes = Parameters<typeof newFlow>[1];

const whole: [string, Nodes, Edge[]][] = [
  [
    "one PROMPT",
    { start: START, talk: TALK, end: END },
    [
      ["start", "talk"],
      ["talk", "end", BY],
    ],
  ],
  [
    "every kind of node and edge, and a loop with a PROMPT node",
    { start: START, talk: TALK, act: ACTION, check: CONDITION, end: END },
    [
      ["start", "act"],
      ["act", "talk", { kind: "FUNCTION", functionName: "look_up" }],
      ["act", "check"],
      ["check", "talk", IF],
      ["check", "end"],
      ["talk", "act", { kind: "FUNCTION", functionName: "look_up" }],
      ["talk", "end", BY],
      ["talk", "check"],
    ],
  ],
];

test.each(whole)("%s has no problems", async (_, nodes, edges) => {
  expect(await problemsFor(nodes, edges)).toEqual([]);
});

/** The problems of a workflow, with the test's names of nodes. */
async function problemsFor(nodes: Nodes, edges: readonly Edge[]) {
  const ids: Readonly<Record<string, string>> = { ours: assistantId, theirs: deleted };
  const made = Object.entries(nodes).map(([name, node]) => [
    name,
    { ...node, ...(typeof node.assistantId === "string" && { assistantId: ids[node.assistantId] }) },
  ]);
  const flow = await newFlow(running.api, Object.fromEntries(made), edges);
  const named = (id: string | null) => Object.entries(flow.nodes).find(([, one]) => one === id)?.[0] ?? null;
  if (JSON.stringify(nodes).includes("theirs")) {
    await running.api.delete(`/rest/v1/assistants/${deleted}`, 200);
    deleted = await newAssistant(running.api);
  }
  return (await problemsOf(running.api, flow.workflowId)).map(({ code, nodeId, edgeId, message }) => ({
    code,
    node: named(nodeId),
    edge: edgeId === null ? null : flow.edges.indexOf(edgeId),
    message,
  }));
}

const WHOLE = { start: START, talk: TALK, end: END };
const WAY: Edge[] = [
  ["start", "talk"],
  ["talk", "end", BY],
];

const wrong: [code: string, Nodes, readonly Edge[], at: { node?: string; edge?: number }][] = [
  ["NO_START", { talk: TALK, end: END }, [["talk", "end", BY]], {}],
  ["SEVERAL_STARTS", { ...WHOLE, again: START }, [...WAY, ["again", "talk"]], { node: "again" }],
  ["NO_PROMPT", { start: START, end: END }, [["start", "end"]], {}],
  ["END_UNREACHABLE", { start: START, talk: TALK }, [["start", "talk"]], {}],
  ["UNREACHABLE_NODE", { ...WHOLE, apart: TALK }, WAY, { node: "apart" }],
  ["EDGE_INTO_START", WHOLE, [...WAY, ["talk", "start", BY]], { node: "start", edge: 2 }],
  ["EDGE_FROM_END", WHOLE, [...WAY, ["end", "talk"]], { node: "end", edge: 2 }],
  ["EDGE_KIND_NOT_POSSIBLE", WHOLE, [...WAY, ["start", "end", BY]], { node: "start", edge: 2 }],
  ["SEVERAL_DEFAULT_EDGES", WHOLE, [...WAY, ["talk", "end"], ["talk", "talk"]], { node: "talk", edge: 3 }],
  [
    "NO_DEFAULT_EDGE",
    { ...WHOLE, check: CONDITION },
    [...WAY, ["talk", "check", BY], ["check", "end", IF]],
    { node: "check" },
  ],
  ["NO_DEFAULT_EDGE", WHOLE, [["start", "talk", IF], WAY[1]!], { node: "start" }],
  [
    "CONDITION_WITHOUT_EDGES",
    { ...WHOLE, check: CONDITION },
    [...WAY, ["talk", "check", BY]],
    { node: "check" },
  ],
  [
    "ENDLESS_LOOP",
    { ...WHOLE, check: CONDITION },
    [...WAY, ["talk", "check", BY], ["check", "check"]],
    { node: "check" },
  ],
  ["PROMPT_WITHOUT_ASSISTANT", { ...WHOLE, talk: { type: "PROMPT" } }, WAY, { node: "talk" }],
  ["ASSISTANT_DELETED", { ...WHOLE, talk: { ...TALK, assistantId: "theirs" } }, WAY, { node: "talk" }],
  [
    "ACTION_WITHOUT_ASSISTANT",
    { ...WHOLE, act: { type: "ACTION", functionName: "look_up" } },
    [...WAY, ["talk", "act", BY], ["act", "end"]],
    { node: "act" },
  ],
  [
    "ACTION_WITHOUT_FUNCTION",
    { ...WHOLE, act: { type: "ACTION", assistantId: "ours" } },
    [...WAY, ["talk", "act", BY], ["act", "end"]],
    { node: "act" },
  ],
  [
    "UNKNOWN_FUNCTION",
    { ...WHOLE, act: { ...ACTION, functionName: "other" } },
    [...WAY, ["talk", "act", BY], ["act", "end"]],
    { node: "act" },
  ],
  [
    "UNKNOWN_FUNCTION",
    WHOLE,
    [...WAY, ["talk", "end", { kind: "FUNCTION", functionName: "other" }]],
    { node: "talk", edge: 2 },
  ],
];

describe("a workflow reports its problems", () => {
  test.each(wrong)("%s", async (code, nodes, edges, { node = null, edge = null }) => {
    const problems = await problemsFor(nodes, edges);
    expect(problems).toContainEqual({ code, node, edge, message: expect.stringMatching(/^[A-Z].*\.$/) });
    // One thing is wrong: every reported problem is that or a consequence.
    expect(problems.length).toBeLessThanOrEqual(3);
  });
});
