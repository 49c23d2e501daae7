import { Writable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import pino from "pino";
import { ModelReports } from "../../src/platform/providers/model-reports";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, speaker } from "../support/calls";
import { afterTest } from "../support/server";
import { stubModel, type Reply } from "../support/stub-model";
import { talk } from "../support/talk";

type Line = Readonly<Record<string, unknown>>;

const lines: Line[] = [];
const log = new Writable({
  write: (chunk: Buffer, _encoding, done) => (lines.push(JSON.parse(String(chunk)) as Line), done()),
});
// The level that `npm start` uses
const running = useApp({ ...FAST, OUTBOUND_ALLOW: "127.0.0.0/8" }, pino({ level: "warn" }, log));

const SAID = "My door code is 4711.";
const KEY = "sk-test-1234";
const failures = (chatId: string) => lines.filter((line) => line.chatId === chatId);

/** Requests to models with these labels. */
async function count(
  purpose: string,
  outcome: string,
  model = "GPT_4_O",
  modelName?: string,
): Promise<number> {
  const { text } = await running.api.request("GET", "/metrics");
  const wanted = { purpose, outcome, model, ...(modelName !== undefined && { model_name: modelName }) };
  const labels = Object.entries(wanted).map(([name, value]) => `${name}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("parley_model_answers_total{"))
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Kinds of failures, each with a reply of the provider; undefined for a server that is off. */
const KINDS: readonly (readonly [string, Reply | undefined])[] = [
  ["unreachable", undefined],
  ["key_refused", { status: 401, error: { message: `Incorrect API key provided: ${KEY} (sk-te****1234).` } }],
  ["unknown_model", { status: 404, error: { message: "no such model", code: "model_not_found" } }],
  ["limited", { status: 429, error: { message: "Slow down.", type: "insufficient_quota" } }],
  ["refused", { status: 400, error: { message: `Not allowed: "${SAID}"` } }],
  ["unusable", { garbage: `data: {"said":${JSON.stringify(SAID)}}\n\n` }],
  ["failed", { status: 500, error: { message: "Out of memory." } }],
];

describe("a failed answer", () => {
  test.each(KINDS)("is logged as an error and counted: %s", async (kind, reply) => {
    const setting = { configuration: { model: "GPT_4_O" } };
    const { model, say, chatId, answered, log } = await talk(running, [reply ?? { text: [] }], setting);
    afterTest(() => answered().then(model.stop));
    if (!reply) await model.stop();
    const before = await count("answer", kind);
    expect(await say(SAID)).toMatchObject({ metadata: { error: true } });
    expect(await count("answer", kind)).toBe(before + 1);
    const { id: organizationId } = (await running.api.gql("{ organization { id } }")).organization;
    expect(failures(chatId)).toEqual([
      expect.objectContaining({
        level: 50,
        msg: "the model failed",
        purpose: "answer",
        kind,
        provider: "OPENAI",
        host: new URL(model.url).host,
        model: "gpt-4o",
        identifier: "GPT_4_O",
        organizationId,
        failures: 1,
        reason: expect.stringMatching(/\S/),
      }),
    ]);
    const logged = JSON.stringify(failures(chatId));
    for (const secret of [KEY, "****1234", SAID]) expect(logged).not.toContain(secret);
    expect(JSON.stringify(await log())).toContain('"errors":[{');
  });

  test.each(["SMS", "VOICE"])("is counted in chats of the channel %s", async (channel) => {
    const configuration = { model: "GPT_4_O" };
    const reply = { status: 403, error: { message: "No access." } };
    const { model, say, answered } = await talk(running, [reply], { configuration, start: { channel } });
    afterTest(() => answered().then(model.stop));
    const before = await count("answer", "key_refused");
    await say(SAID);
    expect(await count("answer", "key_refused")).toBe(before + 1);
  });

  test("is logged and counted in calls", async () => {
    const model = await stubModel({ status: 402, error: { message: "Pay first." } });
    afterTest(model.stop);
    const input = { provider: "OPENAI", apiKey: KEY, baseUrl: model.url };
    const SET = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
    await running.api.gql(SET, { input });
    const id = await place(running.api, await speaker(running.api, { model: "GPT_4_TURBO" }), NUMBER.answers);
    await ended(running.api, id);
    expect(await count("answer", "limited", "GPT_4_TURBO")).toBeGreaterThan(0);
    expect(failures(id)[0]).toMatchObject({ kind: "limited", identifier: "GPT_4_TURBO" });
  });
});

describe("an answer of a model that is mapped to an identifier", () => {
  const MAP = `mutation ($input: ModelMappingInput!) { setModelMapping(input: $input) { name } }`;

  test("names both in its metadata, and is counted under both", async () => {
    const configuration = { model: "LLAMA_3_8B", provider: "GROQ" };
    const { model, say, answered } = await talk(running, [{ text: ["At nine."] }], { configuration });
    afterTest(() => answered().then(model.stop));
    const name = "qwen/qwen3-32b";
    await running.api.gql(MAP, { input: { model: "LLAMA_3_8B", name, baseUrl: model.url } });
    expect((await say(SAID)).metadata).toEqual({ model: "LLAMA_3_8B", modelName: name });
    expect(await count("answer", "ok", "LLAMA_3_8B", name)).toBe(1);
    await model.stop();
    await say(SAID);
    expect(await count("answer", "unreachable", "LLAMA_3_8B", name)).toBe(1);
  });

  test("is counted under another name if organizations have chosen very many", () => {
    const counted: string[] = [];
    const reports = new ModelReports(undefined, ({ modelName }) => counted.push(modelName));
    for (let number = 0; number <= 100; number++)
      reports.answered({ id: "GPT_4_O", model: `model-${number}` }, "answer");
    reports.answered({ id: "GPT_4_O", model: "model-0" }, "answer");
    expect(counted.slice(-3)).toEqual(["model-99", "other", "model-0"]);
  });
});

describe("an outage", () => {
  test("adds one line for each model and kind", async () => {
    const configuration = { model: "GPT_3_5_TURBO" };
    const { model, say, chatId, answered } = await talk(running, [{ status: 401 }], { configuration });
    afterTest(() => answered().then(model.stop));
    for (let times = 0; times < 3; times++) await say(SAID);
    expect(failures(chatId)).toHaveLength(1);
    expect(await count("answer", "key_refused", "GPT_3_5_TURBO")).toBe(3);
  });
});

describe("quick replies", () => {
  test("that fail are logged and counted, and the answer is not affected", async () => {
    const configuration = { model: "GPT_4_O_MINI", quickRepliesEnabled: true };
    const replies = [{ text: ["At nine."] }, { status: 401 }];
    const { model, say, chatId, answered } = await talk(running, replies, { configuration });
    afterTest(() => answered().then(model.stop));
    expect((await say(SAID)).content).toBe("At nine.");
    expect(failures(chatId)).toMatchObject([{ purpose: "quick_replies", kind: "key_refused" }]);
    expect(await count("answer", "ok", "GPT_4_O_MINI")).toBe(1);
    expect(await count("quick_replies", "key_refused", "GPT_4_O_MINI")).toBe(1);
  });
});
