import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import {
  callOf,
  ended,
  eventsOf,
  expectForward,
  FAST,
  FORWARD,
  NUMBER,
  place,
  said,
  speaker,
  statusesOf,
} from "../support/calls";
import { until } from "../support/until";

// A call with three lines takes three seconds on a busy machine.
const running = useApp({ ...FAST, CALL_MAX_SECONDS: "8", CALL_SILENCE_SECONDS: "2" });

const toLine = ({ role, content }: { role: string; content: string }) =>
  `${role === "bot" ? "ASSISTANT" : "USER"}: ${content}`;

const VOICE = {
  initialMessage: "This is {company}. How can I help?",
  resources: "We are open Monday to Friday, 8 am to 6 pm.\n\nParking is free.",
};
const LINES = ["When are you open?", "Is parking free?"];
const TALK = [
  "ASSISTANT: This is Acme.",
  "ASSISTANT: How can I help?",
  "USER: When are you open?",
  "ASSISTANT: We are open Monday to Friday, 8 am to 6 pm.",
  "USER: Is parking free?",
  "ASSISTANT: Parking is free.",
];

async function call(
  phoneNumber: string,
  voice: object = {},
  metadata: object = { simulatedCustomer: LINES },
) {
  const assistantId = await speaker(running.api, { ...VOICE, ...voice });
  return place(running.api, assistantId, phoneNumber, { variables: { company: "Acme" }, metadata });
}

describe("a call that is answered", () => {
  test("goes through all states, is transcribed while it is spoken, and is recorded", async () => {
    const { api } = running;
    const id = await call(NUMBER.answers);
    const over = await ended(api, id);
    expect(over).toMatchObject({
      kind: "PHONE",
      endedReason: "customer-ended-call",
      phoneNumber: NUMBER.answers,
    });
    expect(said(over)).toEqual(TALK);
    expect(await statusesOf(api, id)).toEqual(["queued", "ringing", "in-progress", "ended"]);
    await until(async () => (await callOf(api, id)).recordingUrl !== null);
    const { recordingUrl, createdAt, dialedAt, answeredAt, endedAt } = await callOf(api, id);
    const recording = await fetch(recordingUrl);
    expect([recording.status, recording.headers.get("content-type")]).toEqual([200, "audio/wav"]);
    const times = [createdAt, dialedAt, answeredAt, endedAt];
    expect(times).toEqual([...times].sort());
  });

  test("has each sentence in its events, the last one with the whole conversation", async () => {
    const { api } = running;
    const id = await call(NUMBER.answers);
    await ended(api, id);
    const updates = (await eventsOf(api, id)).filter(({ name }) => name === "conversation-updated");
    expect(updates).toHaveLength(TALK.length);
    const { messages, phoneNumber } = updates.at(-1)!.payload.data;
    expect(phoneNumber).toBe(NUMBER.answers);
    expect(messages.map(toLine)).toEqual(TALK);
  });

  test("works at a number without area code, and at any other number", async () => {
    const { api } = running;
    for (const number of ["+155501" + "00", "+12025550142", "+41445550100"])
      expect((await ended(api, await call(number))).endedReason).toBe("customer-ended-call");
  });

  test.each([LINES.join("\n"), `${LINES.join("\r\n\r\n")}\r\n`, [LINES[0], " ", LINES[1]]])(
    "follows a script given as a text or a list: %j",
    async (simulatedCustomer) => {
      const over = await ended(running.api, await call(NUMBER.answers, {}, { simulatedCustomer }));
      expect(said(over)).toEqual(TALK);
    },
  );

  const FORM = "metadata.simulatedCustomer must be a text with line breaks or a list of texts";
  test.each([
    [{ lines: LINES }, `${FORM}, so the simulated person says the usual lines.`, 3],
    [5, `${FORM}, so the simulated person says the usual lines.`, 3],
    [" \n ", "metadata.simulatedCustomer has no line, so the simulated person says the usual lines.", 3],
    [[], "metadata.simulatedCustomer has no line, so the simulated person says the usual lines.", 3],
    [[{ say: "Hi" }, ...LINES, 7], `${FORM}; the other items are left out.`, 2],
    [null, undefined, 3],
    [LINES, undefined, 2],
    [LINES.join("\n"), undefined, 2],
  ])("names a script that is not used: %j", async (simulatedCustomer, warning, lines) => {
    const { api } = running;
    const assistantId = await speaker(api, VOICE);
    const input = {
      ...{ assistantId, phoneNumber: NUMBER.answers, variables: { company: "Acme" } },
      metadata: { simulatedCustomer },
    };
    const { headers, body } = await api.request("POST", "/rest/v1/call/phone", input);
    expect(headers.get("warning")).toBe(warning === undefined ? null : `299 parley "${warning}"`);
    const query =
      "mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id metadata } }";
    const answer = await api.request("POST", "/graphql", { query, variables: { input } });
    expect(answer.body.extensions?.warnings).toEqual(warning === undefined ? undefined : [warning]);
    expect(answer.body.data.placeAssistantCall.metadata).toEqual({ simulatedCustomer });
    const heard = said(await ended(api, body.id)).filter((line) => line.startsWith("USER"));
    expect(heard).toHaveLength(lines);
  });

  test("uses small talk if there is no script", async () => {
    const over = await ended(running.api, await call(NUMBER.answers, {}, {}));
    expect(said(over).filter((line) => line.startsWith("USER"))).toHaveLength(3);
  });
});

describe("a call with another outcome", () => {
  test.each([
    ["busy", ["queued", "ringing", "ended"], "customer-busy"],
    ["unanswered", ["queued", "ringing", "ended"], "customer-did-not-answer"],
    ["voicemail", ["queued", "ringing", "in-progress", "ended"], "voicemail"],
    ["refused", ["queued", "ended"], "call-start-failed"],
    ["drops", ["queued", "ringing", "in-progress", "ended"], "phone-call-provider-closed-websocket"],
    ["forwards", FORWARD, "assistant-forwarded-call"],
  ] satisfies [keyof typeof NUMBER, string[], string][])("%s", async (name, statuses, reason) => {
    const { api } = running;
    const id = await call(NUMBER[name]);
    expect((await ended(api, id)).endedReason).toBe(reason);
    expect(await statusesOf(api, id)).toEqual(statuses);
  });

  test("that is refused has the reason in its log", async () => {
    const { api } = running;
    const assistantId = await speaker(api);
    const id = await place(api, assistantId, NUMBER.refused);
    await ended(api, id);
    const { metadata } = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(metadata.errors).toEqual([{ at: expect.any(String), message: expect.stringMatching(/refuses/) }]);
  });

  test("that would never end is hung up after CALL_MAX_SECONDS", async () => {
    const { api } = running;
    const id = await call(NUMBER.endless);
    expect((await ended(api, id)).endedReason).toBe("exceeded-max-duration");
  });
});

describe("unusual callbacks", () => {
  test("that arrive twice have an effect once", async () => {
    const { api } = running;
    const id = await call(NUMBER.twice);
    expect(said(await ended(api, id))).toEqual(TALK);
    expect(await statusesOf(api, id)).toEqual(["queued", "ringing", "in-progress", "ended"]);
    const count = (wanted: string, events: { name: string }[]) =>
      events.filter(({ name }) => name === wanted).length;
    await until(async () => count("call-recording", await eventsOf(api, id)) > 0);
    const events = await eventsOf(api, id);
    expect([
      count("session-end", events),
      count("call-recording", events),
      count("conversation-updated", events),
    ]).toEqual([1, 1, TALK.length]);
  });

  test.each(["late", "swapped"] as const)(
    "%s: the call only goes forward, and no message is duplicated",
    async (name) => {
      const { api } = running;
      const id = await call(NUMBER[name]);
      const over = await ended(api, id);
      expectForward(await statusesOf(api, id));
      const lines = said(over);
      expect(new Set(lines).size).toBe(lines.length);
      expect(TALK).toEqual(expect.arrayContaining(lines));
    },
  );

  test("for a call that takes long to place create one call", async () => {
    const { api } = running;
    const id = await call(NUMBER.slow);
    const over = await ended(api, id);
    expect(said(over)).toEqual(TALK);
  });
});

describe("the end of a call", () => {
  test("is caused by a phrase of the assistant", async () => {
    const id = await call(NUMBER.answers, { endCallPhrases: "see you, parking is free" });
    const over = await ended(running.api, id);
    expect(over.endedReason).toBe("assistant-said-end-call-phrase");
    expect(said(over)).toEqual(TALK);
  });

  test("is caused by the function that ends it, after its message", async () => {
    const voice = { endCallFunction: true, endCallMessage: "Thank you for calling!" };
    const id = await call(NUMBER.answers, voice, {
      simulatedCustomer: ["When are you open?", "call:end_call", "Are you there?"],
    });
    const over = await ended(running.api, id);
    expect(over.endedReason).toBe("assistant-ended-call");
    expect(said(over).at(-1)).toBe("ASSISTANT: Thank you for calling!");
    expect(over.chat.messages.at(-1).metadata).toEqual({}); // no citation of an answer before
    const calls = (await eventsOf(running.api, id)).filter(({ name }) => name === "function-call");
    expect(calls.map(({ payload }) => payload.data)).toEqual([{ name: "end_call", parameters: {} }]);
  });

  test("is not caused by a disabled function", async () => {
    const id = await call(
      NUMBER.answers,
      { endCallFunction: false },
      { simulatedCustomer: ["call:end_call"] },
    );
    const over = await ended(running.api, id);
    expect(over.endedReason).toBe("customer-ended-call");
    expect(said(over).at(-1)).toBe("ASSISTANT: No function is named end_call.");
  });

  test("keys are pressed if that is allowed, and the call continues", async () => {
    const script = { simulatedCustomer: ['call:dial_keypad {"digits": "12#"}', "When are you open?"] };
    const id = await call(NUMBER.answers, { dialKeypadFunction: true }, script);
    const over = await ended(running.api, id);
    expect(said(over).at(-1)).toBe("ASSISTANT: We are open Monday to Friday, 8 am to 6 pm.");
    const calls = (await eventsOf(running.api, id)).filter(({ name }) => name === "function-call");
    expect(calls.map(({ payload }) => payload.data)).toEqual([
      { name: "dial_keypad", parameters: { digits: "12#" } },
    ]);
  });

  test("is caused by cancellation, and the other side is told", async () => {
    const { api } = running;
    const id = await call(NUMBER.endless);
    await until(async () => (await callOf(api, id)).status === "in-progress");
    const { cancelCall } = await api.gql(
      "mutation ($id: ID!) { cancelCall(id: $id) { status endedReason } }",
      { id },
    );
    expect(cancelCall).toEqual({ status: "ended", endedReason: "cancelled" });
    await until(async () => (await callOf(api, id)).recordingUrl !== null); // the simulator hung up
    expect((await callOf(api, id)).endedReason).toBe("cancelled");
    const error = await api.gqlError("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id });
    expect(error.extensions.code).toBe("CHAT_ENDED");
  });

  test("is caused by ending its chat over REST, and the other side is told", async () => {
    const { api } = running;
    const id = await call(NUMBER.endless);
    await until(async () => (await callOf(api, id)).status === "in-progress");
    const chat = await api.post(`/rest/v1/ai-chats/${id}/end`, undefined, 200);
    expect(chat).toMatchObject({ id, status: "ended", endedReason: "ended-by-api" });
    await until(async () => (await callOf(api, id)).recordingUrl !== null); // the simulator hung up
    expect(await callOf(api, id)).toMatchObject({ status: "ended", endedReason: "ended-by-api" });
  });

  test("is caused by the deletion of its assistant", async () => {
    const { api } = running;
    const assistantId = await speaker(api, VOICE);
    const id = await place(api, assistantId, NUMBER.endless);
    await until(async () => (await callOf(api, id)).status === "in-progress");
    await api.delete(`/rest/v1/assistants/${assistantId}`, 200);
    expect((await callOf(api, id)).endedReason).toBe("assistant-deleted");
    await until(async () => (await callOf(api, id)).recordingUrl !== null);
  });
});
