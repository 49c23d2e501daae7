import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { COMPLETIONS, MESSAGES, useEngine } from "../support/engine";
import { guardedChat, guardedFlow, HOSTILE, SET, VERIFIED } from "../support/guarded-flow";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";
import { VisitorClient } from "../support/visitor";

const running = useEngine({
  ...{ CALL_SILENCE_SECONDS: "3600", VAPI_PUBLIC_KEY: "public" },
  VOICE_ENGINE_TIMEOUT_SECONDS: "20", // none of these calls is left without an answer
});

let functions: Receiver;
let answer = VERIFIED;
let workflowId: string;
let deploymentId: string;
beforeAll(async () => {
  functions = await new Receiver((res) => res.end(answer)).start();
  workflowId = await guardedFlow(running.api, functions.url);
  const input = { type: "VOICE_BUBBLE", workflowId };
  const CREATE = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  deploymentId = (await running.api.gql(CREATE, { input })).createDeployment.id;
});
afterAll(() => functions.stop());

/** A line dials one call per second; these do not wait for one another. */
const freeLine = () => running.database.query("update calls set line = null");
const newest = () => running.vapi.calls.at(-1)!.assistant.metadata.parleyCallId as string;

/** Ways to start a call with client variables at an engine. They return its id. */
const CALL_STARTERS: Readonly<Record<string, (variables: object) => Promise<string>>> = {
  "/rest/v2/call/phone": async (variables) => {
    await freeLine();
    const body = { workflowId, phoneNumber: "+14155550132", variables };
    return (await running.api.post("/rest/v2/call/phone", body, 200)).id;
  },
  placeWorkflowCall: async (variables) => {
    await freeLine();
    const PLACE = "mutation ($input: PlaceWorkflowCallInput!) { placeWorkflowCall(input: $input) { id } }";
    const input = { workflowId, phoneNumber: "+14155550132", variables };
    return (await running.api.gql(PLACE, { input })).placeWorkflowCall.id;
  },
  "/rest/v1/call/web": async (variables) => {
    await running.api.post("/rest/v1/call/web", { workflowId, variables }, 200);
    return newest();
  },
  startWebCall: async (variables) => {
    const START = "mutation ($input: StartWebCallInput!) { startWebCall(input: $input) { webCallUrl } }";
    await running.api.gql(START, { input: { workflowId, variables } });
    return newest();
  },
  "a visitor's startWidgetCall": async (variables) => {
    const page = await VisitorClient.of(running.url, running.publicKey, { deploymentId });
    const START = "mutation ($input: WidgetCallInput!) { startWidgetCall(input: $input) { id } }";
    const { startWidgetCall } = await page.api.gql(START, { input: { variables } });
    await page.update({ chatId: startWidgetCall.id, variables });
    return startWidgetCall.id;
  },
};

/** All places in an engine's request that could contain variables. */
const hiding = (id: string, values: object) => {
  const overrides = { variableValues: values, metadata: { parleyCallId: id, ...values, variables: values } };
  const everywhere = { ...overrides, ...values, variables: values, assistantOverrides: overrides };
  return { ...everywhere, assistant: everywhere, artifact: everywhere, customer: everywhere };
};

/** Sends all callbacks of an engine before the end of a call, and requests an answer of the assistant. */
async function callBack(id: string, values: object): Promise<void> {
  const held = running.vapi.calls.find(({ assistant }) => assistant.metadata.parleyCallId === id)!;
  const hidden = hiding(id, values);
  const call = { ...hidden, id: held.id };
  const engine = running.api.as(held.assistant.server.headers);
  for (const type of [
    "assistant-request",
    "status-update",
    "transcript",
    "conversation-update",
    "tool-calls",
  ]) {
    const told = { status: "in-progress", role: "user", transcriptType: "final", transcript: "Hello?" };
    await engine.post(MESSAGES, { message: { ...hidden, ...told, type, call }, ...hidden }, 201);
  }
  for (const stream of [false, true]) {
    const messages = [{ role: "user", content: "Open the vault." }];
    const { status } = await engine.request("POST", COMPLETIONS, { ...hidden, messages, stream, call });
    expect(status).toBe(201);
  }
}

const isHeld = (id: string) =>
  until(() => running.vapi.calls.some(({ assistant }) => assistant.metadata.parleyCallId === id));
const chatOf = (id: string) => guardedChat(running.api, id);

describe("in a call of an engine, clients cannot change variables that a function has set", () => {
  test.each(Object.keys(CALL_STARTERS).flatMap((way) => HOSTILE.map((values) => [way, values] as const)))(
    "by %s and the engine's callbacks: %j",
    async (way, values) => {
      const id = await CALL_STARTERS[way]!({ ...values, other: 1 });
      await isHeld(id);
      await callBack(id, values);
      expect(await chatOf(id)).toMatchObject({ workflowNode: { name: "Desk" } });
      expect((await chatOf(id)).variables).toEqual({ ...SET, other: 1 });
      expect(running.vapi.problems).toEqual([]);
    },
  );

  test("and an edge depends on the function's value, whatever the client sent", async () => {
    answer = '{"ok": true}';
    try {
      for (const open of Object.values(CALL_STARTERS)) {
        const id = await open({ "verified.ok": false });
        await isHeld(id);
        await callBack(id, { verified: { ok: false }, "verified.ok": false });
        const { variables, workflowNode } = await chatOf(id);
        expect(variables).toEqual({ verified: { ok: true }, "verified.ok": true });
        expect(workflowNode.name).toBe("Vault");
      }
    } finally {
      answer = VERIFIED;
    }
  });
});
