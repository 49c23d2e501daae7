import { Writable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import pino from "pino";
import { modelFailure } from "../../src/platform/providers/provider-error";
import { toolRefusals } from "../../src/platform/providers/tool-refusals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, said, speaker } from "../support/calls";
import { afterTest } from "../support/server";
import { stubModel, type Reply } from "../support/stub-model";
import { talk as talkWith } from "../support/talk";

type Line = Readonly<Record<string, unknown>>;

const lines: Line[] = [];
const log = new Writable({
  write: (chunk: Buffer, _encoding, done) => (lines.push(JSON.parse(String(chunk)) as Line), done()),
});
const running = useApp({ ...FAST, OUTBOUND_ALLOW: "127.0.0.0/8" }, pino({ level: "warn" }, log));

/** Answers of servers to a request with functions. */
const REFUSALS: readonly (readonly [string, number, object])[] = [
  [
    "Ollama",
    400,
    { message: "registry.ollama.ai/library/gemma3:4b does not support tools", type: "api_error" },
  ],
  [
    "vLLM",
    400,
    {
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      type: "BadRequestError",
      code: 400,
    },
  ],
  [
    "OpenRouter",
    404,
    {
      message:
        "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing",
      code: 404,
    },
  ],
  [
    "Groq",
    400,
    { message: "`tool calling` is not supported with this model", type: "invalid_request_error" },
  ],
  ["llama.cpp", 500, { message: "tools param requires --jinja flag", type: "server_error", code: 500 }],
];
const [[, status, error]] = REFUSALS as [(typeof REFUSALS)[number]];
const REFUSED: Reply = { status, error };
const OK: Reply = { text: ["Fine."] };

const PARKING = "Parking is free behind the house.";
const HOURS = "We are open from eight to six.";
const configuration = { resources: `${PARKING}\n\n${HOURS}` };
const cited = (text: string) => [{ source: "resources", text }];

/** A chat whose model may search, and refuses functions by one of its replies. */
async function talk(replies: readonly Reply[], start = {}) {
  const made = await talkWith(running, replies, { configuration, rag: {}, start });
  afterTest(() => made.answered().then(made.model.stop));
  return made;
}

describe("a model that refuses functions", () => {
  test.each(REFUSALS)("is asked again without them, with passages: %s", async (_server, status, error) => {
    const { model, say, told } = await talk([{ status, error }, OK]);
    expect(await say("Is there parking?")).toMatchObject({
      content: "Fine.",
      metadata: { withoutFunctions: true, citations: cited(PARKING) },
    });
    expect(model.asked).toHaveLength(2);
    expect(model.asked[0]!.tools).toHaveLength(1);
    expect(model.asked[1]!.tools ?? []).toEqual([]);
    expect(told(2)).toContain(`What you know:\n[resources] ${PARKING}`);
    expect(told(2)).not.toContain(HOURS);
  });

  test.each(["TEXT", "SMS", "VOICE"])("is asked only once for each further answer: %s", async (channel) => {
    const { model, say, told } = await talk([REFUSED, OK], { channel });
    await say("Is there parking?");
    expect((await say("When are you open?")).metadata).toMatchObject({
      withoutFunctions: true,
      citations: cited(HOURS),
    });
    expect(model.asked).toHaveLength(3);
    expect(model.asked[2]!.tools ?? []).toEqual([]);
    expect(told(3)).toContain(HOURS);
  });

  test("answers in calls of a voice engine", async () => {
    const model = await stubModel(REFUSED, OK);
    afterTest(model.stop);
    const SET = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
    const input = { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url };
    await running.api.gql(SET, { input });
    const assistantId = await speaker(running.api, { ...configuration, model: "GPT_4_O" });
    const RAG = `mutation ($id: ID!) {
      updateRagSettings(assistantId: $id, channel: VOICE, input: { isRagEnabled: true }) { isRagEnabled } }`;
    await running.api.gql(RAG, { id: assistantId });
    const call = await ended(running.api, await place(running.api, assistantId, NUMBER.answers));
    expect(said(call)).toContain("ASSISTANT: Fine.");
    expect(model.asked.filter(({ tools = [] }) => tools.length > 0)).toHaveLength(1);
  });

  test("gets the results of earlier functions as notes", async () => {
    const search = { call: "search_knowledge", arguments: '{"query":"parking"}' };
    const { model, say } = await talk([search, OK, REFUSED, OK]);
    await say("Is there parking?");
    await say("When are you open?");
    const { messages } = model.asked[3]!;
    expect(messages.filter((message) => message.role === "tool" || message.tool_calls)).toEqual([]);
    expect(JSON.stringify(messages)).toContain(`[resources] ${PARKING})`);
  });

  test("is reported once, in the server's log and in the log of the chat", async () => {
    const { say, chatId, log } = await talk([REFUSED, OK]);
    await say("Is there parking?");
    await say("When are you open?");
    expect(lines.filter((line) => line.chatId === chatId)).toEqual([
      expect.objectContaining({
        level: 40,
        msg: "the model takes no functions",
        kind: "tools_refused",
        reason: expect.stringContaining("does not support tools"),
      }),
    ]);
    const { errors } = (await log()).metadata;
    expect(errors).toEqual([
      { at: expect.any(String), message: expect.stringContaining("takes no functions (tools)") },
    ]);
  });

  test("without functions to offer is asked as usual", async () => {
    const { model, say, answered } = await talkWith(running, [OK], { configuration });
    afterTest(() => answered().then(model.stop));
    expect((await say("Is there parking?")).metadata).not.toHaveProperty("withoutFunctions");
    expect(model.asked).toHaveLength(1);
  });
});

test.each([
  [
    "a failed call",
    400,
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
  ],
  ["a wrong schema", 400, "tool call validation failed: parameters for tool find did not match schema"],
  ["unpaired calls", 400, "An assistant message with 'tool_calls' must be followed by tool messages."],
])("no refusal of functions is assumed after %s", (_what, statusCode, message) => {
  const model = { id: "GPT_4_O", provider: "OPENAI", model: "gpt-4o" };
  expect(modelFailure({ statusCode, error: { message } }, false, model).kind).toBe("refused");
});

test("a refusal is remembered for an hour, for one model at one server", () => {
  let now = 1;
  const refusals = toolRefusals({ now: () => now });
  const asked = (model: string, baseUrl: string) => ({
    model: { id: "GPT_4_O", provider: "OPENAI", model, channels: [] },
    credential: { baseUrl, guarded: false },
  });
  refusals.add(asked("gemma", "http://one/v1"));
  expect(refusals.has(asked("gemma", "http://one/v1"))).toBe(true);
  expect(refusals.has(asked("gemma", "http://two/v1"))).toBe(false);
  expect(refusals.has(asked("llama", "http://one/v1"))).toBe(false);
  now += 3_600_001;
  expect(refusals.has(asked("gemma", "http://one/v1"))).toBe(false);
});
