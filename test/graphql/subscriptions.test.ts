import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp, type RunningApp } from "../support/app";
import { createDatabase, someoneWaits, type TestDatabase } from "../support/database";
import { endChat, quietAssistant, newChat, say } from "../support/factories";
import { until } from "../support/until";
import { Subscriber, type Event } from "../support/subscriber";

type StartedServer = RunningApp & { stop(): Promise<void> };

let database: TestDatabase;
/** Two servers on one database: each delivers events that the other stores. */
let writer: StartedServer;
let reader: StartedServer;
let open: Subscriber[] = [];

beforeAll(async () => {
  database = await createDatabase();
  [writer, reader] = [await startApp(database), await startApp(database)];
});
afterEach(async () => {
  await Promise.all(open.map((subscriber) => subscriber.close()));
  open = [];
});
afterAll(async () => {
  await Promise.all([writer?.stop(), reader?.stop()]);
  await database?.drop();
});

function subscriber(credential: Record<string, unknown> = { "X-API-Key": reader.secretKey }): Subscriber {
  const made = new Subscriber(reader.url, credential);
  open.push(made);
  return made;
}

const chatOf = async () => newChat(writer.api, await quietAssistant(writer.api));
const sequences = (events: readonly Event[]) => events.map(({ message }) => message?.sequence);

/** Subscribes to a chat from its first message, which is already stored. */
async function following(chat: string): Promise<Subscriber & { end: Promise<unknown> }> {
  const first = await say(writer.api, chat, "first");
  const made = subscriber();
  return Object.assign(made, { end: made.watch(chat, first) });
}

describe("chatEvents", () => {
  test("delivers messages stored by another server, in order", async () => {
    const chat = await chatOf();
    const watching = await following(chat);
    for (const text of ["one", "two", "three"]) await say(writer.api, chat, text);
    expect(await watching.received(3)).toEqual(
      ["one", "two", "three"].map((content, index) => ({
        id: expect.any(String),
        name: "conversation-updated",
        status: "in-progress",
        message: { sequence: index + 2, content },
      })),
    );
  });

  test("starts with new events if no event is named", async () => {
    const chat = await chatOf();
    await say(writer.api, chat, "before");
    const watching = subscriber();
    const end = watching.watch(chat);
    // The first event depends on the start of the subscription, but it is never "before".
    await until(async () => {
      await say(writer.api, chat, "after");
      return watching.events.length > 0;
    });
    await endChat(writer.api, chat);
    await end;
    expect(watching.events.map(({ message }) => message?.content)).not.toContain("before");
    expect(watching.events.at(-1)!.name).toBe("status-changed");
  });

  test("resumes after an event with everything missed, without gaps or duplicates", async () => {
    const chat = await chatOf();
    const before = await following(chat);
    await say(writer.api, chat, "second");
    const [seen] = await before.received(1);
    await before.close();
    for (let count = 3; count <= 7; count++) await say(writer.api, chat, `No. ${count}`);
    const resumed = subscriber();
    void resumed.watch(chat, seen!.id);
    expect(sequences(await resumed.received(5))).toEqual([3, 4, 5, 6, 7]);
    await say(writer.api, chat, "live again");
    expect(sequences(await resumed.received(6))).toEqual([3, 4, 5, 6, 7, 8]);
  });

  test("resumes after each event with exactly the rest", async () => {
    const chat = await chatOf();
    const all = await following(chat);
    for (let count = 2; count <= 5; count++) await say(writer.api, chat, `No. ${count}`);
    await endChat(writer.api, chat);
    const events = await all.received(5);
    for (const [index, { id }] of events.entries()) {
      const resumed = subscriber();
      expect(await resumed.watch(chat, id)).toBeUndefined();
      expect(resumed.events).toEqual(events.slice(index + 1).map((event) => ({ ...event, status: "ended" })));
    }
  });

  test("resumes in the order of messages, even if servers' clocks differ", async () => {
    const chat = await chatOf();
    const [one, two] = [await say(writer.api, chat, "one"), await say(writer.api, chat, "two")];
    const late = "ffffffff-0000-7000-8000-000000000000";
    await database.query("update messages set id = $1 where id = $2", [late, one]);
    const resumed = subscriber();
    void resumed.watch(chat, late);
    expect((await resumed.received(1))[0]!.id).toBe(two);
    await endChat(writer.api, chat);
    expect((await resumed.received(2))[1]!.name).toBe("status-changed");
  });

  test("reports the end of the chat and then completes", async () => {
    const chat = await chatOf();
    const watching = await following(chat);
    await endChat(writer.api, chat);
    expect(await watching.end).toBeUndefined();
    expect(watching.events).toEqual([
      { id: expect.any(String), name: "status-changed", status: "ended", message: null },
    ]);
  });

  test("delivers the events after the given one for an ended chat, and completes", async () => {
    const chat = await chatOf();
    const first = await say(writer.api, chat, "first");
    await say(writer.api, chat, "second");
    await endChat(writer.api, chat);
    const watching = subscriber();
    expect(await watching.watch(chat, first)).toBeUndefined();
    expect(watching.events).toMatchObject([{ message: { content: "second" } }, { name: "status-changed" }]);
    const late = subscriber();
    expect(await late.watch(chat)).toBeUndefined();
    expect(late.events).toEqual([]);
  });

  test("delivers two hundred messages posted at once in order, without gaps or duplicates", async () => {
    const chat = await chatOf();
    const watching = await following(chat);
    const texts = Array.from({ length: 200 }, (_, index) => `No. ${index}`);
    await Promise.all(texts.map((text, index) => say(index % 2 ? writer.api : reader.api, chat, text)));
    const events = await watching.received(200);
    expect(sequences(events)).toEqual(texts.map((_, index) => index + 2));
    expect(new Set(events.map(({ message }) => message!.content))).toEqual(new Set(texts));
  });

  test("delivers the last message before the end, however closely the end follows", async () => {
    for (let round = 0; round < 20; round++) {
      const chat = await chatOf();
      const watching = await following(chat);
      for (let count = 2; count <= 4; count++) await say(writer.api, chat, `No. ${count}`);
      await endChat(writer.api, chat);
      await watching.end;
      expect(sequences(watching.events)).toEqual([2, 3, 4, undefined]);
      await watching.close();
    }
  });

  test("resumes after a message that was stored concurrently with the end", async () => {
    const chat = await chatOf();
    await say(writer.api, chat, "first");
    const holder = new pg.Client({ connectionString: database.ownerUrl });
    await holder.connect();
    await holder.query("begin");
    await holder.query("select 1 from chats where id = $1 for update", [chat]);
    const waiting = (count: number) => until(() => someoneWaits(database, "%", count));
    const posted = say(writer.api, chat, "second");
    await waiting(1);
    const ended = endChat(writer.api, chat);
    await waiting(2);
    await holder.query("commit");
    await holder.end();
    const [message] = await Promise.all([posted, ended]);
    const resumed = subscriber();
    await resumed.watch(chat, message);
    expect(resumed.events).toMatchObject([{ name: "status-changed", status: "ended" }]);
    const again = subscriber();
    await again.watch(chat, resumed.events[0]!.id);
    expect(again.events).toEqual([]);
  });

  test("loses nothing when its listening connection is killed", async () => {
    const chat = await chatOf();
    const watching = await following(chat);
    await say(writer.api, chat, "before");
    await watching.received(1);
    const killed = await database.query<{ done: boolean }>(
      `select pg_terminate_backend(pid) as done from pg_stat_activity
       where application_name like 'parley listener%' and datname = current_database()`,
    );
    expect(killed.map(({ done }) => done)).toEqual([true, true]);
    for (const text of ["one", "two", "three"]) await say(writer.api, chat, text);
    expect(sequences(await watching.received(4))).toEqual([2, 3, 4, 5]);
  });
});
