import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import pino from "pino";
import { Messages } from "../../src/chats/chats/messages";
import { digestOf } from "../../src/events/events/compose";
import { takeRecentBody } from "../../src/events/events/recent-bodies";
import { onlineSteps } from "../../src/platform/database/migrations";
import { OnlineSteps } from "../../src/platform/database/upgrades/online-steps";
import { openClient } from "../../src/platform/database/connections/open-client";
import { Scope } from "../../src/platform/database/scope";
import { startApp, useApp, type RunningApp } from "../support/app";
import { createDatabase } from "../support/database";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";

/** Accepts requests. The tests start the server that sends. */
const running = useApp({ WORKER: "off" });

interface Row {
  readonly id: string;
  readonly name: string;
  readonly body: string | null;
  readonly recipe: object | null;
  readonly digest: string | null;
  readonly size: number;
}
const rowsOf = (chatId: string, { database }: RunningApp = running) =>
  database.query<Row>(
    "select id, name, body, recipe, digest, pg_column_size(events.*) as size from events where chat_id = $1 order by chat_sequence",
    [chatId],
  );
const updatesOf = async (chatId: string, app?: RunningApp) =>
  (await rowsOf(chatId, app)).filter(({ name }) => name === "conversation-updated");

const EVENTS = `query ($chatId: ID!) { events(first: 100, filter: { chatId: $chatId }) { nodes { id payload } } }`;
async function payloadsOf(chatId: string, { api }: RunningApp = running): Promise<Record<string, unknown>[]> {
  const { nodes } = (await api.gql(EVENTS, { chatId })).events as {
    nodes: { payload: Record<string, unknown> }[];
  };
  return nodes.map(({ payload }) => payload).toReversed();
}

const newChatOf = async ({ api }: RunningApp = running) => newChat(api, await quietAssistant(api));
const gone = (chatId: string) => running.database.query("delete from messages where chat_id = $1", [chatId]);

test("many events get their positions in the ledger although nobody reads them", async () => {
  const chats = await Promise.all(Array.from({ length: 8 }, () => newChatOf()));
  const placed = () =>
    running.database.query("select from events where chat_id = any($1) and transaction is not null", [chats]);
  const sayInAll = (content: string) => Promise.all(chats.map((chatId) => say(running.api, chatId, content)));
  for (let number = 0; number < 30; number++) await sayInAll(`Message ${number}`);
  // Events of an organization wait as long as an older transaction runs in any database.
  await until(async () => (await placed()).length > 150 || void (await sayInAll("One more")));
});

describe("a message", () => {
  test("adds as much to the events as the first one of its conversation", async () => {
    const chatId = await newChatOf();
    for (let number = 0; number < 200; number++) await say(running.api, chatId, "A message of some words");
    await endChat(running.api, chatId);
    const updates = await updatesOf(chatId);
    expect(updates).toHaveLength(200);
    expect(updates[199]!.size).toBeLessThan(updates[0]!.size + 8);
    const others = (await rowsOf(chatId)).filter(({ name }) => name !== "conversation-updated");
    for (const { size } of others) expect(size).toBeLessThan(updates[0]!.size + 200);
    const last = (await payloadsOf(chatId)).at(-3) as { data: { messages: unknown[] } };
    expect(last.data.messages).toHaveLength(200);
  });

  test("with half an emoji is told as it is stored", async () => {
    const chatId = await newChatOf();
    const { database } = running.app;
    const scope = database.scope((await database.defaultOrganizationId())!);
    const half = { content: "half \ud83e", role: "ASSISTANT", channel: "TEXT", metadata: {} } as const; // as a model's answer may have it
    await scope.of(Messages).post({ aiChatId: chatId, ...half });
    const [update] = await updatesOf(chatId);
    const payload = (await payloadsOf(chatId)).at(-1)!;
    expect(payload.data).toMatchObject({ messages: [{ role: "bot", content: "half \ufffd" }] });
    expect(digestOf(JSON.stringify(payload))).toBe(update!.digest);
  });
});

describe("the payloads of a page", () => {
  test("need one statement, whatever they contain", async () => {
    const chatId = await newChatOf();
    for (let number = 0; number < 20; number++) await say(running.api, chatId, `message ${number}`);
    const read = jest.spyOn(Scope.prototype, "read");
    try {
      expect(await payloadsOf(chatId)).toHaveLength(22);
      expect(readsOf(read, chatId)).toBe(1);
    } finally {
      read.mockRestore();
    }
  });

  test("have the messages that are left", async () => {
    const chatId = await newChatOf();
    for (const word of ["one", "two", "three"]) await say(running.api, chatId, word);
    await running.database.query("delete from messages where chat_id = $1 and content = 'two'", [chatId]);
    const contents = (await payloadsOf(chatId))
      .slice(2)
      .map(({ data }) =>
        (data as { messages: { content: string }[] }).messages.map(({ content }) => content),
      );
    expect(contents).toEqual([["one"], ["one"], ["one", "three"]]);
  });
});

/** How often messages of a chat were read for its events. */
const readsOf = (
  read: { readonly mock: { readonly calls: readonly (readonly unknown[])[] } },
  chatId: string,
) =>
  read.mock.calls.filter(([, values]) =>
    String((values as unknown[] | undefined)?.[0]).startsWith(`[{"chatId":"${chatId}"`),
  ).length;

describe("a delivery", () => {
  let receiver: Receiver;
  let destinationId: string;
  beforeEach(async () => {
    receiver = await new Receiver().start();
    afterTest(() => receiver.stop());
    const { api } = running;
    ({ id: destinationId } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201));
    afterTest(() => api.delete(`/rest/v1/settings/${destinationId}`, 200));
  });

  const sender = async () => {
    const server = await startApp(running.database, { WORKER: "on" });
    let stopped = false;
    const stop = async () => {
      if (!stopped) await server.stop();
      stopped = true;
    };
    afterTest(stop);
    return { stop };
  };
  /** What another process would not know: the bodies that this one has recorded. */
  const forget = async (chatId: string) => {
    for (const { id } of await rowsOf(chatId)) while (takeRecentBody(id) !== undefined);
  };
  const deliveries = (status: string) =>
    running.database.query<{ event_id: string; attempts: { error: string | null }[] }>(
      "select event_id, attempts from deliveries where destination_id = $1 and status = $2 order by event_id",
      [destinationId, status],
    );
  const allDelivered = () => until(async () => (await deliveries("PENDING")).length === 0);
  const retryNow = async () => {
    for (const [table, column] of [
      ["deliveries", "next_attempt_at"],
      ["delivery_queues", "due_at"],
    ])
      await running.database.query(`update ${table} set ${column} = now() where destination_id = $1`, [
        destinationId,
      ]);
  };
  const textsOf = (chatId: string) =>
    receiver.received.filter(({ headers }) => headers["webhook-chat-id"] === chatId).map(({ text }) => text);

  test("sends the payload that GraphQL shows, with the digest that was recorded, reading messages once for many", async () => {
    const chatId = await newChatOf();
    for (let number = 0; number < 40; number++) await say(running.api, chatId, `Nachricht Nr. ${number} 🥊`);
    await endChat(running.api, chatId, "done");
    await forget(chatId);
    const read = jest.spyOn(Scope.prototype, "read");
    try {
      await sender();
      await allDelivered();
      expect(readsOf(read, chatId)).toBeLessThan(12);
    } finally {
      read.mockRestore();
    }
    const rows = await rowsOf(chatId);
    const texts = textsOf(chatId);
    expect(texts).toEqual((await payloadsOf(chatId)).map((payload) => JSON.stringify(payload)));
    const digests = texts.map((text) => digestOf(text));
    expect(rows.map(({ digest, body }) => digest ?? digestOf(body!))).toEqual(digests);
    expect(rows.filter(({ body }) => body !== null).map(({ name }) => name)).toEqual([
      "session-start",
      "session-end",
    ]);
  });

  test("that failed is repeated with the same bytes after a restart, even if the conversation is gone", async () => {
    receiver.answer((res) => void res.writeHead(500).end());
    const chatId = await newChatOf();
    await say(running.api, chatId, "Hello");
    await forget(chatId);
    const first = await sender();
    await until(async () => (await deliveries("PENDING")).every(({ attempts }) => attempts.length === 1));
    await first.stop();
    const sent = textsOf(chatId);
    expect((await rowsOf(chatId)).map(({ body }) => body)).toEqual(sent);
    await gone(chatId);
    receiver.answer((res) => void res.end());
    await retryNow();
    await sender();
    await allDelivered();
    expect(textsOf(chatId).slice(sent.length).toSorted()).toEqual(sent.toSorted());
  });

  test("whose first attempt nobody recorded stores the bytes before it sends them again", async () => {
    const chatId = await newChatOf();
    await say(running.api, chatId, "Hello");
    await forget(chatId);
    await running.database.query("update deliveries set attempt = 1 where destination_id = $1", [
      destinationId,
    ]);
    const stored: (string | null)[] = [];
    receiver.answer((res, { headers }) => {
      void rowsOf(chatId).then((rows) => {
        stored.push(rows.find(({ id }) => id === headers["webhook-id"])!.body);
        res.end();
      });
    });
    await sender();
    await allDelivered();
    expect(stored).toEqual(textsOf(chatId));
  });

  test("of a conversation that was erased or changed is canceled, and the queue goes on", async () => {
    const chatId = await newChatOf();
    for (const word of ["one", "two"]) await say(running.api, chatId, word);
    await endChat(running.api, chatId);
    await forget(chatId);
    await running.database.query(
      "update messages set content = 'other' where chat_id = $1 and content = 'two'",
      [chatId],
    );
    await sender();
    await allDelivered();
    const failed = await deliveries("FAILED");
    expect(failed.map(({ attempts }) => attempts.map(({ error }) => error))).toEqual(
      Array(2).fill([expect.stringMatching(/^Not sent: the conversation was erased or changed/)]),
    );
    expect(textsOf(chatId).map((text) => (JSON.parse(text) as { event: string }).event)).toEqual([
      "session-start",
      "status-changed",
      "conversation-updated",
      "session-end",
    ]);
    const listed = `{ webhookDestinations { id enabled } }`;
    const { webhookDestinations } = await running.api.gql(listed);
    expect(webhookDestinations).toContainEqual({ id: destinationId, enabled: true });
  });

  test("that is replayed later sends the bytes of the first one", async () => {
    const chatId = await newChatOf();
    await say(running.api, chatId, "Hello");
    await sender();
    await allDelivered();
    const sent = textsOf(chatId);
    await say(running.api, chatId, "How are you?");
    await allDelivered();
    const input = { destinationId, filter: { chatId }, dryRun: false };
    const replay = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }";
    receiver.received.length = 0;
    await running.api.gql(replay, { input });
    await allDelivered();
    expect(textsOf(chatId).slice(0, sent.length)).toEqual(sent);
    expect((await rowsOf(chatId)).filter(({ body }) => body !== null)).toHaveLength(1);
  });
});

describe("while a server is connected that cannot compose", () => {
  test("bodies are stored, and from its end on no longer, without a restart", async () => {
    const database = await createDatabase();
    afterTest(() => database.drop());
    await database.query("update online_steps set done_at = null where name = 'compose_events'");
    const older = await openClient(database.ownerUrl, "parley listener sums,1a2b3c4d");
    const app = await startApp(database, { WORKER: "off" });
    afterTest(() => app.stop());
    const steps = new OnlineSteps(database.ownerUrl, pino({ level: "silent" }), onlineSteps, 50);
    afterTest(() => steps.stop());
    const chatId = await newChatOf(app);
    await say(app.api, chatId, "one");
    await until(() => steps.pending().length > 0);
    await say(app.api, chatId, "two");
    await older.end();
    await steps.ended();
    await say(app.api, chatId, "three");
    const rows = (await rowsOf(chatId, app)).filter(({ name }) => name !== "session-start");
    expect(
      rows.map(({ body, recipe, digest }) => [body, recipe, digest].map((value) => value !== null)),
    ).toEqual([...Array<boolean[]>(3).fill([true, false, false]), [false, true, true]]);
    const contents = (await payloadsOf(chatId, app))
      .slice(1)
      .map(({ data }) =>
        (data as { messages: { content: string }[] }).messages.map(({ content }) => content),
      );
    expect(contents).toEqual([[], ["one"], ["one", "two"], ["one", "two", "three"]]);
  });
});
