import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, say as postAs } from "../support/factories";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import type { Reply } from "../support/stub-model";
import { Subscriber } from "../support/subscriber";
import { talk as talkWith } from "../support/talk";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const talk = async (replies: readonly Reply[], setting?: Parameters<typeof talkWith>[2]) => {
  const made = await talkWith(running, replies, setting);
  afterTest(() => made.answered().then(made.model.stop));
  return made;
};

/** A stream of chat completions with these pieces and this finish reason. */
const stream = (pieces: readonly string[], finish = "stop"): Reply => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const text = pieces.map((content) => chunk({ content })).join("");
  return { garbage: `${text}${chunk({}, finish)}data: [DONE]\n\n` };
};
/** A stream that contains an error. */
const failing = (error: object): Reply => ({ garbage: `data: ${JSON.stringify({ error })}\n\n` });

describe("an answer", () => {
  test.each([
    ["length", "length"],
    ["content_filter", "content_filter"],
  ])("that was cut by %s has the reason in its metadata", async (finish, told) => {
    const { say } = await talk([stream(["We open ", "at"], finish)]);
    expect(await say("When?")).toMatchObject({ content: "We open at", metadata: { finishReason: told } });
  });

  test("that is complete has no reason", async () => {
    const { say } = await talk([stream(["We open at nine."])]);
    expect((await say("When?")).metadata).not.toHaveProperty("finishReason");
  });

  test.each(["TEXT", "SMS"])("of a reasoning model contains no thoughts, in %s", async (channel) => {
    const pieces = ["<thi", "nk>They ask for", " hours.</th", "ink>\n\nWe open", " at nine."];
    const { say, log } = await talk([stream(pieces)], { start: { channel } });
    expect((await say("When?")).content).toBe("We open at nine.");
    expect(JSON.stringify(await log())).not.toContain("hours");
  });

  test.each([
    ["only closed", ["They ask for hours.</th", "ink>\n\nNine."]],
    ["nested", ["<think>hours <think>or", " not</think> hours</think>", "Nine."]],
    ["closed twice", ["hours</think>hours</thi", "nk>Nine."]],
    ["in single characters", [..."<think>hours</think>Nine."]],
  ])("contains no thought that is %s", async (_how, pieces) => {
    const { say, log } = await talk([stream(pieces), stream(["hours</think>Ten."]), stream(["Eleven."])]);
    expect((await say("When?")).content).toBe("Nine.");
    expect((await say("And then?")).content).toBe("Ten.");
    expect((await say("And then?")).content).toBe("Eleven.");
    expect(JSON.stringify(await log())).not.toContain("hours");
  });

  test("that contains thoughts without an opening tag is withdrawn once, and later parts contain none", async () => {
    const thinking = stream(["They ask for hours.", "</think>", "Nine."]);
    const { chatId, say } = await talk([thinking]);
    const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
    afterTest(() => subscriber.close());
    const heard: { name: string; text: string | null }[] = [];
    const query = 'subscription ($id: ID!) { chatEvents(chatId: $id, after: "0") { name text } }';
    void subscriber.run(query, { id: chatId }, (data) => {
      heard.push((data as { chatEvents: (typeof heard)[number] }).chatEvents);
    });
    await say("When?");
    heard.length = 0;
    expect((await say("When?")).content).toBe("Nine.");
    await until(() => heard.some(({ name }) => name === "conversation-updated"));
    expect(JSON.stringify(heard)).not.toContain("hours");
  });

  test("that is only a thought is empty", async () => {
    const { say } = await talk([stream(["<think>Hm.</think>"]), stream(["Yes."])]);
    expect((await say("Open?")).content).toBe("Yes.");
  });
});

describe("an error inside a stream", () => {
  test("is in the log with the provider's type and message", async () => {
    const { say, log } = await talk([
      failing({ type: "server_error", message: "The engine is on fire.", code: null }),
    ]);
    expect((await say("Hello?")).metadata).toMatchObject({ error: true });
    const { metadata } = await log();
    expect(metadata.errors[0].message).toBe("server_error: The engine is on fire.");
  });

  test.each([
    [
      "a wrong key",
      { type: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key." },
    ],
    [
      "a context that is too long",
      { type: "invalid_request_error", code: "context_length_exceeded", message: "Too long." },
    ],
    ["an exhausted quota", { type: "insufficient_quota", code: "insufficient_quota", message: "No quota." }],
  ])("is not retried if it is permanent: %s", async (_, error) => {
    const { model, say } = await talk([failing(error), stream(["Here I am."])]);
    expect((await say("Hello?")).metadata).toMatchObject({ error: true });
    expect(model.asked).toHaveLength(1);
  });

  test.each([400, 401, 402, 403, 404, 413])(
    "is not retried for a request refused with %i",
    async (status) => {
      const { model, say } = await talk([{ status }, stream(["Here I am."])]);
      expect((await say("Hello?")).metadata).toMatchObject({ error: true });
      expect(model.asked).toHaveLength(1);
    },
  );
});

test("the shown part of a broken answer is withdrawn, and its words are not shown twice", async () => {
  const { chatId, say } = await talk([
    { half: "The answer" },
    { text: ["The answer ", "is nine."], after: 300 },
  ]);
  const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
  afterTest(() => subscriber.close());
  const heard: { name: string; text?: string | null; message?: { role: string; content: string } | null }[] =
    [];
  const query =
    'subscription ($id: ID!) { chatEvents(chatId: $id, after: "0") { name text message { role content } } }';
  void subscriber.run(query, { id: chatId }, (data) => {
    heard.push((data as { chatEvents: (typeof heard)[number] }).chatEvents);
  });
  await postAs(running.api, chatId, "A note", "SYSTEM");
  await until(() => heard.length > 0); // it listens
  await say("When?");
  await until(() => heard.some(({ message }) => message?.role === "ASSISTANT"));
  let draft = "";
  const drafts: string[] = [];
  for (const { name, text } of heard) {
    if (name === "token") draft += text ?? "";
    if (name === "token-reset") draft = "";
    drafts.push(draft);
  }
  expect(heard.map(({ name }) => name)).toContain("token-reset");
  expect(drafts).toContain("The answer");
  expect(drafts.at(-1)).toBe("The answer is nine.");
});

test("the shown part of an answer is withdrawn if the chat ends first", async () => {
  let letGo = () => undefined as void;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { chatId } = await talk([{ text: ["We open ", "at nine."], held }]);
  const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
  afterTest(() => subscriber.close());
  const names: string[] = [];
  const query = 'subscription ($id: ID!) { chatEvents(chatId: $id, after: "0") { name } }';
  const finished = subscriber.run(query, { id: chatId }, (data) => {
    names.push((data as { chatEvents: { name: string } }).chatEvents.name);
  });
  await postAs(running.api, chatId, "A note", "SYSTEM");
  await until(() => names.length > 0); // it listens
  await postAs(running.api, chatId, "When?", "USER");
  await until(() => names.includes("token"));
  await endChat(running.api, chatId);
  expect(await finished).toBeUndefined();
  expect(names.slice(-2)).toEqual(["token-reset", "status-changed"]);
  letGo();
});

describe("a stream that resumes after a part of an answer", () => {
  const follow = (chatId: string, after: string) => {
    const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
    afterTest(() => subscriber.close());
    const events: { id: string; name: string; message: { role: string; content: string } | null }[] = [];
    const query =
      "subscription ($id: ID!, $after: ID) { chatEvents(chatId: $id, after: $after) { id name message { role content } } }";
    const finished = subscriber.run(query, { id: chatId, after }, (data) => {
      events.push((data as { chatEvents: (typeof events)[number] }).chatEvents);
    });
    return { events, finished };
  };

  /** Stops an answer after its first part, and resumes after this part. */
  const resumed = async () => {
    let letGo = () => undefined as void;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const { chatId } = await talk([{ text: ["We open ", "at nine."], held }]);
    const { events } = follow(chatId, "0");
    await postAs(running.api, chatId, "A note", "SYSTEM");
    await until(() => events.length > 0); // it listens
    await postAs(running.api, chatId, "When?", "USER");
    await until(() => events.some(({ name }) => name === "token"));
    // Ahead of the resumed stream's events there is the question, unless the part came after it.
    const stream = follow(chatId, events.find(({ name }) => name === "token")!.id);
    return { chatId, letGo, ...stream };
  };

  test("leaves out the parts after those that it has missed, until the whole answer", async () => {
    const { chatId, events, letGo } = await resumed();
    await postAs(running.api, chatId, "Another note", "SYSTEM");
    await until(() => events.some(({ message }) => message?.content === "Another note")); // it listens
    letGo();
    await until(() => events.some(({ message }) => message?.role === "ASSISTANT"));
    expect(events.map(({ name }) => name)).not.toContain("token");
    expect(events.at(-1)!.message!.content).toBe("We open at nine.");
  });

  test("withdraws the part if the chat ends first", async () => {
    const { chatId, events, finished, letGo } = await resumed();
    await endChat(running.api, chatId);
    expect(await finished).toBeUndefined();
    expect(events.slice(-2).map(({ name }) => name)).toEqual(["token-reset", "status-changed"]);
    letGo();
  });
});
