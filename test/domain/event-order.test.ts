import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { Ledger } from "../../src/events/events/ledger";
import { sequenceAll } from "../../src/events/events/sequencer";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
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
}

let chatId: string;
beforeEach(async () => {
  chatId = await newChat(running.api, await quietAssistant(running.api));
});

/** All events of the ledger, oldest first. */
async function ledger(): Promise<Event[]> {
  const all: Event[] = [];
  for (let after: string | undefined; ;) {
    const page =
      "query ($after: String) { events(first: 7, after: $after) { nodes { id name chatId } pageInfo { endCursor hasNextPage } } }";
    const { nodes, pageInfo } = (await running.api.gql(page, { after })).events;
    all.push(...(nodes as Event[]));
    if (!pageInfo.hasNextPage) return all.reverse();
    after = pageInfo.endCursor as string;
  }
}
const idsOf = (events: readonly Event[]) => events.map(({ id }) => id);
const ofChat = async (chat: string) => (await ledger()).filter((event) => event.chatId === chat);

/** Follows the ledger. @returns all events up to the end of a chat */
async function follow(after: string, end: string): Promise<Event[]> {
  const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
  stops.push(() => subscriber.close());
  const events: Event[] = [];
  return new Promise((resolve) => {
    const query = "subscription ($after: ID) { organizationEvents(after: $after) { id name chatId } }";
    void subscriber.run(query, { after }, (data) => {
      const event = (data as { organizationEvents: Event }).organizationEvents;
      events.push(event);
      if (event.name === "session-end" && event.chatId === end) resolve(events);
    });
  });
}

async function client(): Promise<pg.Client> {
  const own = new pg.Client({ connectionString: running.database.ownerUrl });
  own.on("error", () => undefined); // it is cut off
  await own.connect();
  stops.push(() => own.end().catch(() => undefined));
  return own;
}

/** Reverses the ids of a chat's events, as servers with wrong clocks could. */
async function reverseIds(): Promise<void> {
  await running.database.query(
    `update events set id = replaced.id from (
       select a.id as old, overlay(b.id placing 'bfff' from 20 for 4) as id from
         (select id, row_number() over (order by chat_sequence) as n from events where chat_id = $1) a join
         (select id, row_number() over (order by chat_sequence desc) as n from events where chat_id = $1) b using (n)
     ) as replaced where events.id = replaced.old`,
    [chatId],
  );
}

describe("the order of a chat's events", () => {
  test("is that of the chat's counter in the ledger, in subscriptions and in replays, whatever the ids", async () => {
    for (const text of ["one", "two", "three"]) await say(running.api, chatId, text);
    await endChat(running.api, chatId);
    await reverseIds();
    await running.database.query("update events set transaction = null where chat_id = $1", [chatId]);
    const names = ["session-start", "status-changed", ...Array<string>(3).fill("conversation-updated")];
    const wanted = [...names, "status-changed", "session-end"];
    const stored = await running.database.query<Event>(
      "select id, name from events where chat_id = $1 order by chat_sequence",
      [chatId],
    );
    expect(stored.map(({ name }) => name)).toEqual(wanted);
    expect(idsOf(stored)).toEqual(idsOf(stored).sort().reverse());

    const before = (await ledger()).find(({ id }) => id === stored[0]!.id)!;
    expect(idsOf(await ofChat(chatId))).toEqual(idsOf(stored));
    expect(idsOf(await follow(before.id, chatId))).toEqual(idsOf(stored).slice(1));

    const receiver = await new Receiver().start();
    stops.push(() => receiver.stop());
    const { id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    stops.push(() => running.api.delete(`/rest/v1/settings/${id}`, 200));
    const replay = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }";
    await running.api.gql(replay, { input: { destinationId: id, filter: { chatId }, dryRun: false } });
    const sent = await receiver.until(wanted.length);
    expect(sent.map(({ headers }) => headers["webhook-id"])).toEqual(idsOf(stored));
  });

  test("is the order in which they become visible, even with many concurrent writes", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => say(running.api, chatId, `message ${n}`)));
    const rows = await running.database.query<{ chat_sequence: number; said: string }>(
      `select chat_sequence, recipe ->> 'last' as said from events
       where chat_id = $1 and name = 'conversation-updated' order by chat_sequence`,
      [chatId],
    );
    expect(rows.map(({ said }) => Number(said))).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const { rows: all } = {
      rows: await running.database.query("select from events where chat_id = $1", [chatId]),
    };
    expect(rows.at(-1)!.chat_sequence).toBe(all.length);
  });
});

describe("the ledger", () => {
  test("continues after a restore into a cluster whose transaction ids start again", async () => {
    await say(running.api, chatId, "before");
    const all = await ledger();
    // Pretends that the backed-up cluster was far ahead of this one.
    const ahead = "(transaction::text::bigint + 1000000000000)::text::xid8";
    await running.database.query(`update events set transaction = ${ahead}`);
    await running.database.query("update ledger_heads set position = position + 1000000000000");
    expect(idsOf(await ledger())).toEqual(idsOf(all));
    const following = follow(all.at(-1)!.id, chatId);
    await say(running.api, chatId, "after");
    await endChat(running.api, chatId);
    const told = (await following).map(({ name }) => name);
    expect(told).toEqual(["conversation-updated", "status-changed", "session-end"]);
    expect(idsOf((await ledger()).slice(0, all.length))).toEqual(idsOf(all));
    expect(await follow(all.at(-2)!.id, chatId)).toHaveLength(4);
  });

  test("continues if its head is lost, as after a restore of older rows", async () => {
    const last = (await ledger()).at(-1)!;
    await running.database.query("delete from ledger_heads");
    await endChat(running.api, chatId);
    expect((await follow(last.id, chatId)).map(({ name }) => name)).toEqual([
      "status-changed",
      "session-end",
    ]);
  });

  test("includes events of older servers, which assign no positions", async () => {
    const place = (await ledger()).at(-1)!;
    await running.database.query(
      `insert into events (organization_id, id, name, type, assistant_id, chat_id, body)
       select organization_id, overlay(id placing 'bffe' from 20 for 4), 'call-recording', type, assistant_id, chat_id, body from events where id = $1`,
      [place.id],
    );
    await endChat(running.api, chatId);
    const told = await follow(place.id, chatId);
    expect(told.map(({ name }) => name)).toEqual(["call-recording", "status-changed", "session-end"]);
  });

  test("shows all readers the same order, and nothing later before a position that was read", async () => {
    const organizationId = (await running.api.get("/rest/v1/organization", 200)).id as string;
    const chats = [chatId];
    for (let n = 0; n < 4; n++) chats.push(await newChat(running.api, await quietAssistant(running.api)));
    const begun = await running.app.database.scope(organizationId).of(Ledger).positionOf(undefined);
    let writing = true;
    const read = async () => {
      const seen: string[] = [];
      for (let place = begun, last = false; ;) {
        const { heads, position: next } = await running.app.database
          .scope(organizationId)
          .of(Ledger)
          .headsAfter(place, 3);
        seen.push(...heads.map(({ id }) => id));
        place = next;
        if (heads.length === 0 && last) return seen;
        last = !writing && heads.length === 0;
      }
    };
    const readers = Array.from({ length: 4 }, read);
    await Promise.all(
      chats.map(async (chat) => {
        for (let n = 0; n < 6; n++) await say(running.api, chat, `message ${n}`);
        await endChat(running.api, chat);
      }),
    );
    writing = false;
    const [first, ...others] = await Promise.all(readers);
    expect(first).toHaveLength(chats.length * 8);
    for (const other of others) expect(other).toEqual(first);
  });

  test("does not wait for a crashed sequencer", async () => {
    const place = (await ledger()).at(-1)!;
    const stuck = await client();
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await stuck.query(
      `begin; select from ledger_heads where organization_id = '${organizationId}' for update`,
    );
    const following = follow(place.id, chatId);
    await endChat(running.api, chatId);
    const { rows } = await stuck.query<{ pid: number }>("select pg_backend_pid() as pid");
    await running.database.query("select pg_terminate_backend($1::integer)", [rows[0]!.pid]);
    expect((await following).map(({ name }) => name)).toEqual(["status-changed", "session-end"]);
  });

  test("assigns positions to events that nobody reads", async () => {
    await endChat(running.api, chatId);
    await running.database.query("update events set transaction = null where chat_id = $1", [chatId]);
    await sequenceAll(running.app.database);
    expect(await running.database.query("select from events where transaction is null")).toEqual([]);
  });
});
