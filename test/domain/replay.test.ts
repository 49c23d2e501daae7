import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

const REPLAY = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events dryRun } }";
const EVENTS = "{ events(first: 100) { nodes { id name chatId createdAt payload } } }";

interface Event {
  readonly id: string;
  readonly name: string;
  readonly chatId: string;
  readonly createdAt: string;
  readonly payload: object;
}

let receiver: Receiver;
let destinationId: string;
let assistants: string[];
let chats: string[];
/** The ledger before the replay, oldest first. */
let events: Event[];

/** Two chats with two assistants, and a destination created after them. */
beforeAll(async () => {
  const { api } = running;
  assistants = [await quietAssistant(api), await quietAssistant(api)];
  chats = [await newChat(api, assistants[0]!), await newChat(api, assistants[1]!)];
  for (let n = 1; n <= 5; n++) for (const chat of chats) await say(api, chat, `message ${n}`);
  for (const chat of chats) await endChat(api, chat);
  await running.database.query(`
    update events set created_at = numbered.at from (
      select organization_id, id, date_trunc('second', now()) - interval '1 hour'
        + row_number() over (partition by organization_id order by id) * interval '1 second' as at from events
    ) as numbered where numbered.organization_id = events.organization_id and numbered.id = events.id`);
  events = (await api.gql(EVENTS)).events.nodes.toReversed();
  receiver = await new Receiver().start();
  const made = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
  destinationId = made.id;
});
afterAll(() => receiver?.stop());
beforeEach(() => void receiver.received.splice(0));

const replay = async (filter: object | undefined, dryRun?: boolean) =>
  (
    await running.api.gql(REPLAY, {
      input: { destinationId, filter, ...(dryRun !== undefined && { dryRun }) },
    })
  ).replayEvents;
const ids = (some: readonly Event[]) => some.map(({ id }) => id);
const sent = () => receiver.received.map(({ headers }) => String(headers["webhook-id"]));
/** All deliveries, once none is pending. */
async function deliveries() {
  return until(async () => {
    const all = await running.database.query<{ status: string }>(
      "select id, status, attempt from deliveries order by id",
    );
    return all.every(({ status }) => status !== "PENDING") && all;
  });
}

describe("a replay", () => {
  test("sends the original events, in order within each chat", async () => {
    expect(events).toHaveLength(2 * (1 + 1 + 5 + 1 + 1));
    expect(await replay(undefined, false)).toEqual({ events: events.length, dryRun: false });
    await receiver.until(events.length);
    for (const chat of chats) {
      const own = ids(events.filter(({ chatId }) => chatId === chat));
      expect(sent().filter((id) => own.includes(id))).toEqual(own);
    }
    for (const { headers, body } of receiver.received)
      expect(body).toEqual(events.find(({ id }) => id === headers["webhook-id"])!.payload);
  });

  test("keeps that order while a receiver is slow and answers out of order", async () => {
    let turn = 0;
    receiver.answer((res) => void setTimeout(() => res.end("ok"), (turn++ % 3) * 60));
    await replay({}, false);
    await receiver.until(events.length);
    receiver.answer((res) => void res.end("ok"));
    for (const chat of chats) {
      const own = ids(events.filter(({ chatId }) => chatId === chat));
      expect(sent().filter((id) => own.includes(id))).toEqual(own);
    }
  });

  test("counts and changes nothing with dryRun, which is the default", async () => {
    const before = await deliveries();
    expect(await replay(undefined)).toEqual({ events: events.length, dryRun: true });
    expect(await replay({ name: "session-end" }, true)).toEqual({ events: 2, dryRun: true });
    expect(await deliveries()).toEqual(before);
    expect((await running.api.gql(EVENTS)).events.nodes).toHaveLength(events.length);
  });

  test.each<[string, (all: Event[]) => object, (event: Event, all: Event[]) => boolean]>([
    ["name", () => ({ name: "conversation-updated" }), ({ name }) => name === "conversation-updated"],
    ["chat", () => ({ chatId: chats[1] }), ({ chatId }) => chatId === chats[1]],
    ["assistant", () => ({ assistantId: assistants[0] }), ({ chatId }) => chatId === chats[0]],
    [
      "time",
      (all) => ({ createdAfter: all[3]!.createdAt, createdBefore: all[9]!.createdAt }),
      ({ createdAt }, all) => createdAt > all[3]!.createdAt && createdAt < all[9]!.createdAt,
    ],
    [
      "name and chat together",
      () => ({ name: "session-start", chatId: chats[0] }),
      ({ name, chatId }) => name === "session-start" && chatId === chats[0],
    ],
    ["a name that no event has", () => ({ name: "call-recording" }), () => false],
  ])("sends only events that match its filter: %s", async (_what, filterOf, wanted) => {
    const expected = events.filter((event) => wanted(event, events));
    expect(await replay(filterOf(events), true)).toEqual({ events: expected.length, dryRun: true });
    expect(await replay(filterOf(events), false)).toEqual({ events: expected.length, dryRun: false });
    await receiver.until(expected.length);
    // A later event arrives, so no other was on its way.
    await replay({ name: "session-end", chatId: chats[1] }, false);
    await receiver.until(expected.length + 1);
    const last = ids(events.filter(({ name, chatId }) => name === "session-end" && chatId === chats[1]));
    expect(sent().sort()).toEqual([...ids(expected), ...last].sort());
  });

  test.each([
    [
      { name: "conversation-update" },
      "BAD_USER_INPUT",
      /must be one of status-changed, .*; got "conversation-update"/,
    ],
    [{ chatId: UNKNOWN_ID }, "CHAT_NOT_FOUND", /No chat with id/],
    [{ assistantId: UNKNOWN_ID }, "ASSISTANT_NOT_FOUND", /No assistant with id/],
  ])("refuses the unknown value in the filter %j", async (filter, code, message) => {
    for (const dryRun of [true, false]) {
      const error = await running.api.gqlError(REPLAY, { input: { destinationId, filter, dryRun } });
      expect(error).toMatchObject({ message: expect.stringMatching(message), extensions: { code } });
    }
  });

  test("finds the events of a deleted assistant, and of a chat that is gone", async () => {
    const { api, database } = running;
    const assistantId = await quietAssistant(api);
    const chatId = await newChat(api, assistantId);
    await api.delete(`/rest/v1/assistants/${assistantId}`, 200);
    const { events } = await replay({ assistantId, name: "session-start" });
    expect(events).toBe(1);
    expect(await replay({ assistantId, name: "call-recording" })).toMatchObject({ events: 0 });
    await database.query("delete from chats where id = $1", [chatId]);
    expect(await replay({ chatId, name: "session-start" })).toMatchObject({ events: 1 });
  });

  test("has one entry in the audit log if it sends events, and none if it counts or fails", async () => {
    const { api } = running;
    const { id } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const entries = async () => {
      const filter = `operation: "replayEvents", recordId: "${id}"`;
      return (await api.gql(`{ auditEvents(filter: { ${filter} }) { totalCount } }`)).auditEvents.totalCount;
    };
    const input = { destinationId: id, filter: { name: "session-start" }, dryRun: false };
    await api.gql(REPLAY, { input: { ...input, dryRun: true } });
    await api.gqlError(REPLAY, { input: { ...input, filter: { chatId: UNKNOWN_ID } } });
    expect(await entries()).toBe(0);
    await api.gql(REPLAY, { input });
    expect(await entries()).toBe(1);
    await api.gql(REPLAY, { input: { ...input, filter: { name: "call-recording" } } });
    expect(await entries()).toBe(2);
    await api.delete(`/rest/v1/settings/${id}`, 200);
    await deliveries();
  });

  test("contains events that no reader has seen yet", async () => {
    const chatId = await newChat(running.api, assistants[0]!);
    await say(running.api, chatId, "the newest message");
    expect(await replay({ chatId })).toEqual({ events: 3, dryRun: true });
    expect(
      await replay({ assistantId: assistants[0], createdAfter: new Date(Date.now() - 60_000) }),
    ).toMatchObject({
      events: 3,
    });
    await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chatId });
  });

  test("is refused for a disabled destination, as are other ways to send it an event; counting is not", async () => {
    const { api, database } = running;
    const { id } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    await database.query("update webhook_destinations set enabled = false where id = $1", [id]);
    const old = UNKNOWN_ID;
    await database.query(
      `insert into deliveries (organization_id, id, event_id, destination_id, status)
       select organization_id, $1, $2, id, 'FAILED' from webhook_destinations where id = $3`,
      [old, events[0]!.id, id],
    );
    const input = { destinationId: id, filter: {} };
    for (const [document, variables] of [
      [REPLAY, { input: { ...input, dryRun: false } }],
      ["mutation ($id: ID!) { redeliver(deliveryId: $id) { id } }", { id: old }],
      ["mutation ($id: ID!) { testWebhookDestination(id: $id) { id } }", { id }],
    ] as const) {
      const { message, extensions } = await api.gqlError(document, variables);
      expect(extensions.code).toBe("WEBHOOK_DESTINATION_DISABLED");
      expect(message).toContain(`PATCH /rest/v1/settings/${id}`);
    }
    expect(
      (await api.gql(REPLAY, { input: { ...input, dryRun: true } })).replayEvents.events,
    ).toBeGreaterThan(0);
    const stored = await database.query("select id from deliveries where destination_id = $1", [id]);
    expect(stored).toEqual([{ id: old }]);
    await api.delete(`/rest/v1/settings/${id}`, 200);
  });

  test("reaches no destination of another organization, and sends none of its events", async () => {
    const other = await running.otherOrganization();
    const input = { destinationId, filter: {}, dryRun: false };
    expect((await other.api.gqlError(REPLAY, { input })).extensions.code).toBe(
      "WEBHOOK_DESTINATION_NOT_FOUND",
    );
    const own = await other.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const { replayEvents } = await other.api.gql(REPLAY, { input: { destinationId: own.id, dryRun: false } });
    expect(replayEvents.events).toBe(0);
    const unknown = { destinationId: UNKNOWN_ID };
    expect((await running.api.gqlError(REPLAY, { input: unknown })).extensions.code).toBe(
      "WEBHOOK_DESTINATION_NOT_FOUND",
    );
  });
});
