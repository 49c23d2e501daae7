import { beforeAll, describe, expect, test } from "@jest/globals";
import { afterTest, afterTests } from "../support/server";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, say, UNKNOWN_ID } from "../support/factories";
import { Subscriber } from "../support/subscriber";
import { until } from "../support/until";
import { VisitorClient } from "../support/visitor";

const running = useApp({ WORKER: "on" });

interface StreamEvent {
  readonly id: string;
  readonly name: string;
  readonly message: { readonly id: string; readonly content: string } | null;
}
/** A subscription to the events of a chat, and the credential of its readers. */
interface Stream {
  readonly field: string;
  readonly headers: () => Record<string, unknown>;
  readonly start: () => Promise<string>;
}

let visitor: VisitorClient;
beforeAll(async () => {
  const assistantId = await newAssistant(running.api);
  visitor = await VisitorClient.of(running.url, running.publicKey, { assistantId });
  afterTests(() => visitor.close());
});

const CHAT_EVENTS: Stream = {
  field: "chatEvents",
  headers: () => ({ "X-API-Key": running.secretKey }),
  start: async () => newChat(running.api, await newAssistant(running.api)),
};
const STREAMS: readonly Stream[] = [
  CHAT_EVENTS,
  {
    field: "widgetChatEvents",
    headers: () => ({ ...visitor.api.headers }),
    start: async () => (await visitor.start()).id,
  },
];

/** Follows a chat. @returns the events received so far, and the errors of the subscription at its end */
function follow({ field, headers }: Stream, chatId: string, after?: string) {
  const subscriber = new Subscriber(running.url, headers());
  afterTest(() => subscriber.close());
  const query = `subscription ($chatId: ID!, $after: ID) {
    result: ${field}(chatId: $chatId, after: $after) { id name message { id content } } }`;
  const events: StreamEvent[] = [];
  const end = subscriber.run(query, { chatId, ...(after !== undefined && { after }) }, (data) =>
    events.push((data as { result: StreamEvent }).result),
  );
  return { events, end };
}

const isStored = ({ name }: StreamEvent) => !["token", "token-reset", "activity"].includes(name);
const isWhole = ({ message }: StreamEvent) => message?.content.includes("Are you open?") === false;

describe.each(STREAMS)("$field", (stream) => {
  test("resumes after any of its events, fragments too, with exactly the rest", async () => {
    const chatId = await stream.start();
    const { events, end } = follow(stream, chatId, "0");
    await until(() => events.length > 1); // fragments reach only open subscriptions
    await say(running.api, chatId, "Are you open?", "USER");
    await until(() => events.slice(2).filter(isWhole).length > 0);
    await endChat(running.api, chatId);
    expect(await end).toBeUndefined();
    expect(events.map(({ name }) => name)).toContain("token");
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    for (const [index, { id }] of events.entries()) {
      const resumed = follow(stream, chatId, id);
      expect(await resumed.end).toBeUndefined();
      // Of the status, only the present one is delivered again.
      const rest = events.slice(index + 1).filter(isStored);
      expect(resumed.events).toEqual(rest.filter((event) => event.message ?? event === rest.at(-1)));
    }
  });

  test("resumes after a fragment of a stream that began with new events", async () => {
    const chatId = await stream.start();
    await say(running.api, chatId, "earlier");
    const { events } = follow(stream, chatId);
    // The first event depends on the start of the subscription.
    await until(async () => {
      await say(running.api, chatId, "Are you open?", "USER");
      return events.some(({ name }) => name === "token");
    });
    const fragment = events.find(({ name }) => name === "token")!;
    const answer = () => events.slice(events.indexOf(fragment)).find(({ message }) => message);
    await until(() => answer() !== undefined);
    const resumed = follow(stream, chatId, fragment.id);
    const messages = () => resumed.events.filter(({ message }) => message);
    await until(() => messages().length > 0);
    expect(messages()[0]).toEqual(answer());
  });

  test("replays a chat after its own id", async () => {
    const chatId = await stream.start();
    await say(running.api, chatId, "said");
    await endChat(running.api, chatId);
    const all = follow(stream, chatId, chatId);
    expect(await all.end).toBeUndefined();
    expect(all.events.at(-2)).toMatchObject({ message: { content: "said" } });
    expect(all.events[0]!.message).not.toBeNull();
  });

  test("refuses the id of anything else", async () => {
    const [chatId, other] = [await stream.start(), await stream.start()];
    const foreign = await say(running.api, other, "elsewhere");
    const future = "ffffffff-0000-7000-8000-000000000000";
    const wrong = ["nope", "undefined", "", "~", `nope~${UNKNOWN_ID}`, UNKNOWN_ID, future, other, foreign];
    for (const after of wrong)
      expect(await follow(stream, chatId, after).end).toMatchObject([
        {
          message: `No event with id ${JSON.stringify(after)}, or it has expired.`,
          extensions: { code: "EVENT_NOT_FOUND" },
        },
      ]);
  });
});

test("a call's stream resumes after a message that its whole transcript has replaced", async () => {
  const { id } = await running.api.post(
    "/rest/v1/call/phone",
    { assistantId: await newAssistant(running.api), phoneNumber: "+41445550100" },
    200,
  );
  const replaced = await say(running.api, id as string, "half a sent");
  await running.database.query("update messages set id = $1 where id = $2", [UNKNOWN_ID, replaced]);
  await endChat(running.api, id as string);
  const resumed = follow(CHAT_EVENTS, id as string, replaced);
  expect(await resumed.end).toBeUndefined();
  expect(resumed.events.at(-1)).toMatchObject({ name: "status-changed" });
});

test("messages of a widget's chat after an unknown message are an error that names it", async () => {
  const { id } = await visitor.start();
  const query = `query ($id: ID!) { widgetChat(id: $id) { messages(after: "nope") { id } } }`;
  expect(await visitor.api.gqlError(query, { id })).toMatchObject({
    message: 'No event with id "nope", or it has expired.',
    extensions: { code: "EVENT_NOT_FOUND" },
  });
});
