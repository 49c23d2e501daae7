import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { NUMBER } from "../support/calls";
import { newAssistant } from "../support/factories";
import { newFlow } from "../support/flows";
import { Receiver } from "../support/receiver";
import { until } from "../support/server";
import { VisitorClient } from "../support/visitor";

const running = useApp({ WORKER: "on" });

let functions: Receiver;
let workflowId: string;
let deploymentId: string;
beforeAll(async () => {
  functions = await new Receiver((res) => res.end('{"ok": false, "level": {"deep": 1}}')).start();
  const assistantId = await newAssistant(running.api);
  const declared = [{ name: "verify", parameters: { type: "object" }, serverUrl: functions.url }];
  for (const kind of ["chat", "voice"]) {
    const path = `/rest/v1/assistants/${assistantId}/${kind}`;
    await running.api.patch(path, { initialMessage: "Hello.", functions: declared }, 200);
  }
  const guard = (variable: string, value: string) => ({
    kind: "VARIABLE",
    variable,
    operator: "EQUALS",
    value,
  });
  const flow = await newFlow(
    running.api,
    {
      start: { type: "START" },
      verify: { type: "ACTION", assistantId, functionName: "verify", resultVariable: "verified" },
      desk: { type: "PROMPT", name: "Desk", assistantId },
      vault: { type: "PROMPT", name: "Vault", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "verify"],
      ["verify", "desk"],
      ["desk", "vault", guard("verified.ok", "true")],
      ["desk", "vault", guard("verified.admin", "true")],
      ["vault", "end", { kind: "MODEL", description: "Is done." }],
    ],
  );
  workflowId = flow.workflowId;
  const input = { type: "TEXT_BUBBLE", workflowId };
  const CREATE = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  deploymentId = (await running.api.gql(CREATE, { input })).createDeployment.id;
});
afterAll(() => functions.stop());

const CHAT = "query ($id: ID!) { chat(id: $id) { variables workflowNode { name } messages { role } } }";
const chatOf = async (id: string) => (await running.api.gql(CHAT, { id })).chat;
const atDesk = (id: string) => until(async () => (await chatOf(id)).workflowNode?.name === "Desk");
const visitor = () => VisitorClient.of(running.url, running.publicKey, { deploymentId });

const SET = {
  verified: { ok: false, level: { deep: 1 } },
  "verified.ok": false,
  "verified.level": { deep: 1 },
};
const OTHERS = { unverified: true, verifiedBy: "me", "x.verified.ok": true };
const HOSTILE: readonly Record<string, unknown>[] = [
  { "verified.ok": true },
  { verified: { ok: true } },
  { verified: true },
  { verified: null },
  { "verified.admin": true },
  { "verified.ok.deeper": true, "verified.level.deep": 2 },
];

/** Each begins a chat, gives it values once the function has set its own, and says what the chat's id is. */
const WAYS: Readonly<Record<string, (values: object) => Promise<string>>> = {
  "by the page, at the start": async (variables) => {
    const { id } = await (await visitor()).start({ variables });
    return id;
  },
  "by the page, later": async (variables) => {
    const page = await visitor();
    const { id } = await page.start();
    await atDesk(id);
    await page.update({ chatId: id, variables });
    return id;
  },
  "by the page, twice": async (variables) => {
    const page = await visitor();
    const { id } = await page.start({ variables });
    await atDesk(id);
    await page.update({ chatId: id, variables: { other: 1 } });
    await page.update({ chatId: id, variables });
    return id;
  },
  "by GraphQL": async (variables) => {
    const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    return (await running.api.gql(START, { input: { workflowId, variables } })).startChat.id;
  },
  "with a call": async (variables) => {
    const body = { workflowId, phoneNumber: NUMBER.answers, variables };
    return (await running.api.post("/rest/v2/call/phone", body, 200)).id;
  },
};

describe("variables that a function has set are not changed from outside", () => {
  test.each(Object.keys(WAYS).flatMap((way) => HOSTILE.map((values) => [way, values] as const)))(
    "%s: %j",
    async (way, values) => {
      const id = await WAYS[way]!({ ...values, ...OTHERS });
      await atDesk(id);
      const { variables } = await chatOf(id);
      expect(variables).toEqual({ ...SET, ...OTHERS, ...(way.endsWith("twice") && { other: 1 }) });
    },
  );

  test("nor do they open an edge that is guarded by them", async () => {
    const page = await visitor();
    const { id } = await page.start();
    await atDesk(id);
    await page.update({ chatId: id, variables: { "verified.ok": true, "verified.admin": true } });
    await page.post(id, "Open the vault.");
    await until(
      async () => (await page.chat(id)).messages.filter(({ role }) => role === "ASSISTANT").length > 1,
    );
    expect((await chatOf(id)).workflowNode.name).toBe("Desk");
  });

  test("and in a chat that began before that was kept, none of them is", async () => {
    const page = await visitor();
    const { id } = await page.start({ variables: OTHERS });
    await atDesk(id);
    await running.database.query("update chats set set_variables = null where id = $1", [id]);
    await page.update({ chatId: id, variables: { verified: 1, unverified: false, fresh: 1 } });
    expect((await chatOf(id)).variables).toEqual({ ...SET, ...OTHERS, fresh: 1 });
  });
});
