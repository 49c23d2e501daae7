import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { vapiEngine } from "../../src/platform/providers/vapi/vapi-engine";
import { CallRefused, type PhoneCallOrder } from "../../src/platform/ports/voice-engine";
import { FakeVapi } from "../support/vapi";

let vapi: FakeVapi;
beforeAll(async () => void (vapi = await new FakeVapi().start()));
afterAll(() => vapi.stop());
afterEach(() => expect(vapi.problems.splice(0)).toEqual([]));

const engineOf = (more: object = {}) =>
  vapiEngine({ apiKey: "key", baseUrl: vapi.url, phoneNumberId: "number-1", ...more }, fetch);
const soon = () => AbortSignal.timeout(5_000);

const order: PhoneCallOrder = {
  callId: "0192f0c9-11aa-7c02-8d4e-6b7f3a2c5e90",
  phoneNumber: "+14155550132",
  maxSeconds: 600,
  metadata: {},
  callbacks: {
    messagesUrl: "https://parley.example/rest/v1/webhooks/vapi/server-messages",
    modelUrl: "https://parley.example/rest/v1/webhooks/vapi/custom-llm",
    headers: { "x-vapi-secret": "secret" },
  },
  assistant: {
    name: "Front desk",
    greeting: "Hello, Grace.",
    prompt: "You are the receptionist.",
    model: "GPT_4_O",
    temperature: 0.3,
    maxTokens: 300,
    voiceProvider: "ELEVENLABS",
    voice: "burt",
    functions: [{ name: "book", description: "Books.", parameters: { type: "object", properties: {} } }],
    endCallFunction: true,
    dialKeypadFunction: true,
    endCallMessage: "Goodbye!",
    endCallPhrases: ["goodbye", "see you"],
    backgroundSound: "OFFICE",
    backchanneling: true,
  },
};
const withAssistant = (
  assistant: Partial<PhoneCallOrder["assistant"]>,
  more: Partial<PhoneCallOrder> = {},
) => ({
  ...order,
  ...more,
  assistant: { ...order.assistant, ...assistant },
});

async function placed(given: PhoneCallOrder) {
  await engineOf().place(given, soon());
  return vapi.created.at(-1)!.body;
}

describe("a call at Vapi", () => {
  test("is created as documented by its API", async () => {
    const call = await engineOf().place({ ...order, userName: "Grace", externalId: "e-1" }, soon());
    expect(call).toEqual({ id: vapi.calls.at(-1)!.id, status: "queued" });
    expect(vapi.created.at(-1)!.body).toEqual({
      name: order.callId,
      phoneNumberId: "number-1",
      customer: { number: "+14155550132", name: "Grace", externalId: "e-1" },
      assistant: {
        name: "Front desk",
        firstMessage: "Hello, Grace.",
        firstMessageMode: "assistant-speaks-first",
        model: {
          provider: "custom-llm",
          url: order.callbacks.modelUrl,
          headers: { "x-vapi-secret": "secret" },
          model: "GPT_4_O",
          messages: [{ role: "system", content: "You are the receptionist." }],
          tools: [
            { type: "function", function: order.assistant.functions[0] },
            { type: "endCall" },
            { type: "dtmf" },
          ],
          temperature: 0.3,
          maxTokens: 300,
          metadataSendMode: "variable",
          timeoutSeconds: 60,
        },
        voice: { provider: "11labs", voiceId: "burt" },
        backgroundSound: "office",
        endCallMessage: "Goodbye!",
        endCallPhrases: ["goodbye", "see you"],
        maxDurationSeconds: 600,
        voicemailDetection: { provider: "vapi" },
        monitorPlan: { controlEnabled: true, listenEnabled: false },
        server: {
          url: order.callbacks.messagesUrl,
          headers: { "x-vapi-secret": "secret" },
          timeoutSeconds: 20,
          backoffPlan: { type: "exponential", maxRetries: 5, baseDelaySeconds: 1 },
        },
        serverMessages: [
          "status-update",
          'transcript[transcriptType="final"]',
          "tool-calls",
          "transfer-destination-request",
          "end-of-call-report",
          "hang",
        ],
        metadata: { parleyCallId: order.callId, backchanneling: true },
      },
    });
  });

  test.each([
    ["ELEVENLABS", "11labs"],
    ["PLAYHT", "playht"],
    ["OPENAI", "openai"],
  ])("speaks with %s as %s", async (voiceProvider, provider) => {
    expect((await placed(withAssistant({ voiceProvider, voice: "any" }))).assistant.voice).toEqual({
      provider,
      voiceId: "any",
    });
  });

  test("leaves out disabled and empty fields", async () => {
    const { assistant } = await placed(
      withAssistant({
        greeting: "",
        endCallMessage: "",
        endCallPhrases: [],
        functions: [],
        endCallFunction: false,
        dialKeypadFunction: false,
        backgroundSound: "DEFAULT",
      }),
    );
    expect(assistant.firstMessageMode).toBe("assistant-waits-for-user");
    for (const name of ["firstMessage", "endCallMessage", "endCallPhrases", "backgroundSound"])
      expect(assistant).not.toHaveProperty(name);
    expect(assistant.model).not.toHaveProperty("tools");
    expect((await placed(withAssistant({ backgroundSound: "OFF" }))).assistant.backgroundSound).toBe("off");
  });

  test("stays within the limits of the API for every configuration", async () => {
    const long = "😀".repeat(1_000);
    const body = await placed({
      ...withAssistant(
        { name: long, endCallMessage: long, endCallPhrases: ["a", "", long], maxTokens: 1 },
        { maxSeconds: 1 },
      ),
      userName: long,
      externalId: long,
    });
    for (const text of [body.assistant.name, body.assistant.endCallMessage!, body.customer.name!])
      expect(text.isWellFormed()).toBe(true);
    expect(body.assistant.model.maxTokens).toBe(50);
    expect(
      (await placed(withAssistant({ maxTokens: 16_384 }, { maxSeconds: 86_400 }))).assistant
        .maxDurationSeconds,
    ).toBe(43_200);
  });

  test("uses the customer's own number if there is one, and leaves its texts to Parley", async () => {
    const from = { phoneNumber: "+14155550100", accountSid: "AC1", authToken: "token" };
    const { phoneNumber, phoneNumberId } = await placed({ ...order, from });
    expect(phoneNumber).toEqual({
      twilioPhoneNumber: "+14155550100",
      twilioAccountSid: "AC1",
      twilioAuthToken: "token",
      smsEnabled: false,
    });
    expect(phoneNumberId).toBeUndefined();
  });

  test("is refused without any number to call from", async () => {
    const engine = vapiEngine({ apiKey: "key", baseUrl: vapi.url }, fetch);
    await expect(engine.place(order, soon())).rejects.toMatchObject({ reason: "no-phone-number" });
  });

  test.each([400, 401, 402, 403, 404])("that Vapi answers with %d is refused permanently", async (status) => {
    vapi.will({ status });
    await expect(engineOf().place(order, soon())).rejects.toBeInstanceOf(CallRefused);
    vapi.will();
  });

  test.each([408, 409, 429, 500, 503])("that Vapi answers with %d may have been created", async (status) => {
    vapi.will({ status });
    const refused = engineOf().place(order, soon());
    await expect(refused).rejects.toThrow(`status ${status}`);
    await expect(refused).rejects.not.toBeInstanceOf(CallRefused);
    vapi.will();
  });

  test.each([400, 500])("that Vapi answers with %d: the error contains no secret", async (status) => {
    const from = { phoneNumber: "+14155550100", accountSid: "AC1", authToken: "token-of-twilio" };
    vapi.will({ status, echo: true });
    const error = await engineOf()
      .place(
        { ...order, from, callbacks: { ...order.callbacks, headers: { "x-vapi-secret": "call-secret" } } },
        soon(),
      )
      .catch(({ message }: Error) => message);
    vapi.will();
    expect(error).toContain('"twilioPhoneNumber":"+14155550100"');
    expect(error).toContain('"twilioAuthToken":"…"');
    expect(error).not.toMatch(/token-of-twilio|call-secret/);
  });

  test("is found by our id, among any number of others, or by Vapi's id", async () => {
    const engine = engineOf();
    const since = new Date();
    const wanted = { ...order, callId: "wanted" };
    const { id } = await engine.place(wanted, soon());
    const [first] = vapi.calls.slice(-1);
    const others = Array.from({ length: 2_500 }, (_, index) => ({
      ...first!,
      id: `other-${index}`,
      name: `other-${index}`,
      assistant: { ...first!.assistant, metadata: {} },
      createdAt: new Date(Date.now() + index).toISOString(),
    }));
    vapi.calls.push(...others);
    expect(await engine.find({ callId: "wanted", since }, soon())).toEqual({ id, status: "queued" });
    expect(await engine.find({ callId: "another", since }, soon())).toBeUndefined();
    vapi.end(id, "customer-ended-call");
    expect(await engine.find({ callId: "wanted", engineCallId: id, since }, soon())).toEqual({
      id,
      status: "ended",
      endedReason: "customer-ended-call",
    });
    expect(await engine.find({ callId: "x", engineCallId: "unknown", since }, soon())).toBeUndefined();
    expect(
      await engine.find({ callId: "wanted", since: new Date(Date.now() + 3_600_000) }, soon()),
    ).toBeUndefined();
  });

  test("is hung up at its control address, once", async () => {
    const engine = engineOf();
    const since = new Date();
    const { id } = await engine.place({ ...order, callId: "hangs" }, soon());
    await engine.hangUp({ callId: "hangs", engineCallId: id, since }, soon());
    await engine.hangUp({ callId: "hangs", engineCallId: id, since }, soon());
    await engine.hangUp({ callId: "nobody", engineCallId: "unknown", since }, soon());
    expect(vapi.controlled).toEqual([{ id, body: { type: "end-call" } }]);
  });

  test("from a web page is created with the public key only", async () => {
    expect(engineOf().web).toBeUndefined();
    const call = await engineOf({ publicKey: "public" }).web!(order, soon());
    expect(call.url).toBe(`https://calls.example/${call.id}`);
  });
});

describe("a callback of Vapi", () => {
  const { read, names } = vapiEngine({ apiKey: "key", baseUrl: "http://127.0.0.1" }, fetch);
  const message = (type: string, more: object = {}) => ({ message: { type, ...more } });

  test.each([
    [message("status-update", { status: "ringing" }), { type: "status", status: "ringing" }],
    [
      message("status-update", { status: "ended", endedReason: "customer-busy" }),
      { type: "status", status: "ended", endedReason: "customer-busy" },
    ],
    [
      message("transcript", { role: "user", transcriptType: "final", transcript: " Hello\0 " }),
      { type: "transcript", final: true, said: { role: "USER", text: "Hello" } },
    ],
    [
      message("transcript", { role: "assistant", transcriptType: "partial", transcript: "Hel" }),
      { type: "transcript", final: false, said: { role: "ASSISTANT", text: "Hel" } },
    ],
    [
      message('transcript[transcriptType="final"]', { role: "user", transcript: "Hi" }),
      { type: "transcript", final: true, said: { role: "USER", text: "Hi" } },
    ],
    [
      message("conversation-update", {
        messages: [
          { role: "bot", message: "Hi" },
          { role: "user", message: "Yes?" },
        ],
      }),
      {
        type: "conversation",
        said: [
          { role: "ASSISTANT", text: "Hi" },
          { role: "USER", text: "Yes?" },
        ],
      },
    ],
    [
      message("tool-calls", {
        toolCallList: [{ id: "1", type: "function", function: { name: "book", arguments: '{"a":1}' } }],
      }),
      { type: "tool-calls", calls: [{ id: "1", name: "book", arguments: { a: 1 } }] },
    ],
    [
      message("tool-calls", { toolCallList: [{ id: "1", name: "book", parameters: { a: 1 } }] }),
      { type: "tool-calls", calls: [{ id: "1", name: "book", arguments: { a: 1 } }] },
    ],
    [
      message("end-of-call-report", {
        endedReason: "hangup",
        artifact: { recordingUrl: "https://r.example/1.wav", messages: [] },
      }),
      { type: "report", endedReason: "hangup", recordingUrl: "https://r.example/1.wav", said: [] },
    ],
    [
      message("end-of-call-report", {
        artifact: { recording: { mono: { combinedUrl: "https://r.example/2.wav" } } },
      }),
      { type: "report", recordingUrl: "https://r.example/2.wav", said: [] },
    ],
    [
      message("end-of-call-report", { artifact: { recordingUrl: "javascript:alert(1)" } }),
      { type: "report", said: [] },
    ],
    [
      message("assistant-request", { phoneNumber: { number: "+14155550100" } }),
      { type: "assistant-request", calledNumber: "+14155550100" },
    ],
    [message("transfer-destination-request"), { type: "transfer-request" }],
    [message("hang"), { type: "hang" }],
    [message("speech-update"), { type: "other" }],
    [message("status-update", { status: "scheduled" }), { type: "other" }],
  ])("%j is parsed", (body, expected) => {
    expect(read(body)).toEqual(expected);
  });

  test.each([
    null,
    7,
    "text",
    [],
    {},
    { message: null },
    { message: [] },
    message("constructor"),
    message("transcript", { role: "constructor", transcript: "x", transcriptType: "final" }),
    message("transcript", { role: "user", transcript: {}, transcriptType: "final" }),
    message("status-update", { status: { toString: 1 } }),
    { message: { type: { toString: null } } },
  ])("%j is ignored", (body) => {
    expect(read(body)).toEqual({ type: "other" });
    expect(names(body)).toEqual({});
  });

  test.each([
    { message: { call: { id: "v", name: "ours" } } },
    { message: { call: { id: "v", assistant: { metadata: { parleyCallId: "ours" } } } } },
    { message: { call: { id: "v" }, assistant: { metadata: { parleyCallId: "ours" } } } },
    { call: { id: "v" }, metadata: { parleyCallId: "ours" }, messages: [] },
  ])("%j identifies its call", (body) => {
    expect(names(body)).toEqual({ callId: "ours", engineCallId: "v" });
  });
});
