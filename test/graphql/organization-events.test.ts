import type { EventEmitter } from "node:events";
import { afterEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { EVENTS_CHANNEL } from "../../src/events/events/record";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";
import { Subscriber } from "../support/subscriber";

const running = useApp({ WORKER: "on" });
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Event {
  readonly id: string;
  readonly name: string;
  readonly chatId: string;
  readonly payload: object;
}

const FIELDS = "id name type companionId chatId payload";
const SUBSCRIPTION = `subscription ($after: ID) { organizationEvents(after: $after) { ${FIELDS} } }`;

/** Subscribes to all events of the organization. */
function follow(after?: string, credential: Record<string, string> = { "X-API-Key": running.secretKey }) {
  const subscriber = new Subscriber(running.url, credential);
  stops.push(() => subscriber.close());
  const events: Event[] = [];
  const end = subscriber.run(SUBSCRIPTION, { after }, (data) => {
    events.push((data as { organizationEvents: Event }).organizationEvents);
  });
  const untilEvent = (name: string) => until(() => events.some((event) => event.name === name) && events);
  return { events, end, until: untilEvent };
}

const ledger = async (): Promise<Event[]> =>
  (await running.api.gql(`{ events(first: 100) { nodes { ${FIELDS} } } }`)).events.nodes.toReversed();
/** Number of open streams; each listens to notifications once it knows its position. */
const streamCount = (): number => {
  const { listener } = running.app.database.scope("").ports;
  const { emitter } = listener as unknown as { readonly emitter: EventEmitter }; // a private field
  return emitter.listenerCount(EVENTS_CHANNEL);
};
const ids = (events: readonly Event[]) => events.map(({ id }) => id);

async function aChat(): Promise<string> {
  const chatId = await newChat(running.api, await quietAssistant(running.api));
  for (const text of ["one", "two"]) await say(running.api, chatId, text);
  await endChat(running.api, chatId);
  return chatId;
}

describe("organizationEvents", () => {
  test("delivers the same events as the webhook and the ledger, with the same ids and content", async () => {
    const receiver = await new Receiver().start();
    stops.push(() => receiver.stop());
    const { id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    stops.push(() => running.api.delete(`/rest/v1/settings/${id}`, 200));
    await aChat();
    const [last] = (await ledger()).slice(-1);
    const following = follow(last!.id);
    const chatId = await aChat();
    const told = await following.until("session-end");
    const names = ["session-start", "status-changed", "conversation-updated", "conversation-updated"];
    expect(told.map(({ name }) => name)).toEqual([...names, "status-changed", "session-end"]);
    expect(told.map((event) => event.chatId)).toEqual(told.map(() => chatId));
    expect(told).toEqual((await ledger()).filter((event) => event.chatId === chatId));
    const sent = await receiver.until(2 * told.length);
    const own = sent.filter(({ headers }) => ids(told).includes(String(headers["webhook-id"])));
    expect(own.map(({ headers, body }) => [headers["webhook-id"], body])).toEqual(
      told.map((event) => [event.id, event.payload]),
    );
  });

  test("resumes after each event with exactly the rest", async () => {
    const chatId = await aChat();
    const all = (await ledger()).filter((event) => event.chatId === chatId);
    for (const [index, { id }] of all.slice(0, -1).entries()) {
      const rest = await follow(id).until("session-end");
      expect(ids(rest)).toEqual(ids(all.slice(index + 1)));
    }
  });

  test("does not skip events that are committed late", async () => {
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    const place = (await ledger()).at(-1)!;
    const slow = new pg.Client({ connectionString: running.database.ownerUrl });
    await slow.connect();
    stops.push(() => slow.end());
    await slow.query("begin");
    await slow.query(
      `insert into events (organization_id, id, name, type, assistant_id, chat_id, body)
       select organization_id, id || 'x', 'call-recording', type, assistant_id, chat_id, body from events where id = $1`,
      [place.id],
    );
    const following = follow(place.id);
    await say(running.api, chatId, "later, and seen earlier");
    await endChat(running.api, chatId);
    await following.until("session-end");
    await slow.query("commit");
    const told = await following.until("call-recording");
    expect(told.map(({ name }) => name)).toEqual([
      "conversation-updated",
      "status-changed",
      "session-end",
      "call-recording",
    ]);
    expect(ids(await ledger()).slice(-told.length)).toEqual(ids(told));
  });

  test("starts now if no event is named, and contains nothing of other organizations", async () => {
    const other = await running.otherOrganization();
    const slow = new pg.Client({ connectionString: running.database.ownerUrl });
    await slow.connect();
    stops.push(() => slow.end());
    await slow.query("begin; select pg_current_xact_id()"); // a transaction that is older than committed events and still open
    await aChat();
    const streams = streamCount();
    const theirs = follow(undefined, { "X-API-Key": other.secretKey });
    const ours = follow();
    await until(() => streamCount() === streams + 2);
    const chatId = await newChat(other.api, await quietAssistant(other.api));
    await endChat(other.api, chatId);
    await slow.query("commit");
    const told = await theirs.until("session-end");
    expect(new Set(told.map((event) => event.chatId))).toEqual(new Set([chatId]));
    const next = await aChat();
    expect(new Set((await ours.until("session-end")).map((event) => event.chatId))).toEqual(new Set([next]));
  });

  test("refuses an unknown event", async () => {
    expect(await follow(UNKNOWN_ID).end).toMatchObject([{ extensions: { code: "EVENT_NOT_FOUND" } }]);
  });
});
