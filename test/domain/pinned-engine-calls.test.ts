import { describe, expect, test } from "@jest/globals";
import { place, speaker } from "../support/calls";
import { engineCallOf, MESSAGES, useEngine } from "../support/engine";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { answeredBy, connect } from "../support/sms";
import { stubModel, type Reply } from "../support/stub-model";
import { until } from "../support/until";

const SECRET = "one-secret-for-all-calls";
const running = useEngine({ VOICE_ENGINE_SECRET: SECRET, VAPI_PUBLIC_KEY: "public" });

const CURRENT = "query ($id: ID!) { assistant(id: $id) { version { number } } }";
const currentOf = async (id: string): Promise<number> =>
  (await running.api.gql(CURRENT, { id })).assistant.version.number;
const patch = (id: string, part: string, body: object) =>
  running.api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);

async function asks(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  await answeredBy(running, model);
  return { ...model, told: () => model.asked.map(({ messages }) => messages[0]!.content) };
}

const HELLO = [{ role: "user", content: "Hello" }];

describe("a call of a voice engine", () => {
  test("is ordered, and answered, as the version of its acceptance", async () => {
    const { api, vapi } = running;
    const model = await asks({ text: ["Fine."] });
    const id = await speaker(api, { prompt: "First.", initialMessage: "First.", voice: "paul" });
    // The line dials one call per second: the second one waits.
    await place(api, id, "+41446681800");
    const waiting = await place(api, id, "+41446681801");
    await patch(id, "/voice", { prompt: "Second.", initialMessage: "Second.", voice: "drew" });
    await until(() => vapi.calls.some(({ name }) => name === waiting));
    const call = engineCallOf(api, vapi, waiting);
    expect(call.body.assistant).toMatchObject({
      firstMessage: "First.",
      model: { messages: [{ role: "system", content: "First." }] },
    });
    await call.ask(HELLO);
    await patch(id, "/voice", { prompt: "Third." });
    await call.ask(HELLO);
    expect(model.told()).toEqual(["First.", "First."]);
  });

  test("calls functions as its version declares them when the engine runs the model itself", async () => {
    const [first, second] = [await new Receiver().start(), await new Receiver().start()];
    for (const receiver of [first, second]) afterTest(() => receiver.stop());
    const functions = (url: string, secretKey: string) => [{ name: "book", serverUrl: url, secretKey }];
    const id = await speaker(running.api, { initialMessage: "", functions: functions(first.url, "one") });
    await running.database.query("update calls set line = null");
    const call = await running.call(id);
    await patch(id, "/voice", { functions: functions(second.url, "two") });
    const toolCallList = [{ id: "1", type: "function", function: { name: "book", arguments: {} } }];
    await call.tell("tool-calls", { toolCallList });
    expect(first.received.map(({ headers }) => headers["x-ck"])).toEqual(["one"]);
    expect(second.received).toEqual([]);
  });

  test("to a connected number is answered by the version of its deployment", async () => {
    const { api } = running;
    const id = await speaker(api, { initialMessage: "First." });
    const assistantVersion = await currentOf(id);
    await patch(id, "/voice", { initialMessage: "Second." });
    const line = await connect(running, []);
    const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
    const UPDATE = `mutation ($id: ID!) { updateDeployment(id: $id, input: { assistantVersion: null }) { id } }`;
    const input = {
      type: "PHONE_INBOUND",
      assistantId: id,
      assistantVersion,
      telephonyConnectionId: line.id,
    };
    const { createDeployment } = await api.gql(DEPLOY, { input });
    const ask = async (engineCallId: string) => {
      const phoneNumber = { number: line.phoneNumber };
      const customer = { number: "+41783000001" };
      const message = { type: "assistant-request", customer, call: { id: engineCallId }, phoneNumber };
      return (await api.as({ "x-vapi-secret": SECRET }).post(MESSAGES, { message }, 201)).assistant;
    };
    expect(await ask("pinned-1")).toMatchObject({ firstMessage: "First." });
    await api.gql(UPDATE, { id: createDeployment.id });
    expect(await ask("pinned-1")).toMatchObject({ firstMessage: "First." });
    expect(await ask("pinned-2")).toMatchObject({ firstMessage: "Second." });
  });

  test("from a web page runs the version of its start", async () => {
    const { api, vapi, publicKey } = running;
    const model = await asks({ text: ["Fine."] });
    const assistantId = await speaker(api, { prompt: "First.", initialMessage: "First." });
    await api.as({ "X-Public-Key": publicKey }).post("/rest/v1/call/web", { assistantId }, 200);
    const { id, assistant } = vapi.calls.at(-1)!;
    expect(assistant.firstMessage).toBe("First.");
    await patch(assistantId, "/voice", { prompt: "Second." });
    const url = new URL(assistant.model.url);
    const path = `${url.pathname}/chat/completions`;
    const body = { model: "GPT_4_O", messages: HELLO, call: { id } };
    expect((await api.as({}).request("POST", path, body, assistant.model.headers)).status).toBe(201);
    expect(model.told()).toEqual(["First."]);
  });
});
