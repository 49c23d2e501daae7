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
});

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
      ["talk", "end", { ...BY, collects: ["a"] }],
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

describe("variables that nothing sets", () => {
  const SPEAKER = {
    chat: { initialMessage: "{chat_greeting} {own} {key.part}", prompt: "{chat_prompt} {asked}" },
    sms: { initialMessage: "{sms_greeting}", prompt: "{result} {result.part} {resulting}" },
    voice: { initialMessage: "", prompt: "", functions: [{ name: "f", description: "{voice_function}" }] },
  };
  const CALLED = [
    { name: "look_up", description: "{called}", parameters: { type: "object", properties: {} } },
    { name: "other", description: "{not_called}" },
  ];
  const START_CHAT = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  let nodes: Nodes;
  const edges: Edge[] = [
    ["start", "act", { kind: "VARIABLE", variable: "compared", operator: "EQUALS", value: "{value} {own}" }],
    ["start", "check"],
    ["check", "talk", { ...IF, variable: "tested" }],
    ["check", "talk"],
    ["act", "talk"],
    ["talk", "end", { ...BY, description: "If {choice}.", collects: ["asked"] }],
    ["talk", "act", { ...IF, variable: "own" }],
  ];
  beforeAll(async () => {
    const { api } = running;
    const speaker = await newAssistant(api, { name: "Bea", variables: { own: 1, "key.part": "x" } });
    const other = await newAssistant(api, { name: "Cy", variables: { chat_prompt: "of another" } });
    for (const [kind, texts] of Object.entries(SPEAKER))
      await api.patch(`/rest/v1/assistants/${speaker}/${kind}`, texts, 200);
    await api.patch(`/rest/v1/assistants/${other}/chat`, { functions: CALLED }, 200);
    nodes = {
      start: START,
      check: CONDITION,
      act: {
        type: "ACTION",
        assistantId: other,
        functionName: "look_up",
        arguments: { a: "{argument}", "{key}": [{ deep: "{deep} {own} {first name}" }] },
        resultVariable: "result",
      },
      talk: { type: "PROMPT", assistantId: speaker, instructions: "{instruction}" },
      end: { ...END, message: "{farewell} {own}" },
    };
  });

  test("are warnings at the nodes and edges that use them", async () => {
    const flow = await newFlow(running.api, nodes, edges);
    const problems = await problemsOf(running.api, flow.workflowId);
    const placed = problems.map(({ code, severity, nodeId, edgeId, message }) => {
      expect([code, severity]).toEqual(["UNSET_VARIABLE", "WARNING"]);
      expect(message).toMatch(/^Nothing sets \{.*\}, used by .*\.$/);
      const node = Object.keys(nodes).find((name) => flow.nodes[name] === nodeId);
      const names = [...message.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
      return [edgeId === null ? node : `${node} edge ${flow.edges.indexOf(edgeId)}`, names.sort()];
    });
    expect(Object.fromEntries(placed)).toEqual({
      "start edge 0": ["compared", "value"],
      "check edge 2": ["tested"],
      act: ["argument", "called", "deep"],
      talk: [
        ...["chat_greeting", "chat_prompt", "instruction", "resulting", "sms_greeting", "voice_function"],
      ],
      "talk edge 5": ["choice"],
      end: ["farewell"],
    });
  });

  test("are all named, however many there are", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `name_${index}`);
    const instructions = names.map((name) => `{${name}}`).join(" ");
    const flow = await newFlow(
      running.api,
      { start: START, talk: { type: "PROMPT", assistantId, instructions }, end: END },
      [
        ["start", "talk"],
        ["talk", "end", BY],
      ],
    );
    const [problem] = await problemsOf(running.api, flow.workflowId);
    expect([...problem!.message.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)).toEqual(names);
  });

  test("do not prevent a start, as errors do", async () => {
    const flow = await newFlow(running.api, nodes, edges);
    const input = { workflowId: flow.workflowId };
    expect((await running.api.gql(START_CHAT, { input })).startChat.id).toEqual(expect.any(String));
    const broken = await newFlow(running.api, { ...nodes, apart: CONDITION }, edges.slice(1));
    const problems = await problemsOf(running.api, broken.workflowId);
    expect(new Set(problems.map(({ severity }) => severity))).toEqual(new Set(["ERROR", "WARNING"]));
    const error = await running.api.gqlError(START_CHAT, { input: { workflowId: broken.workflowId } });
    expect(error.extensions.code).toBe("WORKFLOW_HAS_PROBLEMS");
    expect(JSON.stringify(error)).not.toContain("UNSET_VARIABLE");
  });
});
