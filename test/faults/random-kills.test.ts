import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import pg from "pg";
import { digestOf } from "../../src/events/events/compose";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newChat, quietAssistant, said } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest, SERVER_TIMEOUT_MS, type ServerProcess, SETTINGS, startServer } from "../support/server";
import { seeded } from "../support/seeded";
import { until } from "../support/until";
import { LONG } from "../support/suite";

const running = useApp({ WORKER: "off" });

const CHATS = LONG ? 20 : 8;
const MESSAGES = 47;
const EVENTS = CHATS * (MESSAGES + 3); // session-start, status-changed and session-end are events too
const KILLS = 3;
/** Most deliveries that one server has in flight for one organization. */
const IN_FLIGHT = 8;

interface StoredEvent {
  readonly id: string;
  readonly chat_id: string;
  readonly chat_sequence: number;
  /** The digest of the body, or the body of an event without one. */
  readonly content: string;
}

test(
  `two servers that are repeatedly killed deliver all ${EVENTS} events, none before its commit and none out of order`,
  async () => {
    const random = seeded(20_260_301);
    const ledger = new pg.Pool({ connectionString: running.database.ownerUrl, max: 8 });
    afterTest(() => ledger.end());
    const early: string[] = [];
    const receiver = await new Receiver((res, { headers }) => {
      const id = headers["webhook-id"] as string;
      void ledger
        .query("select from events where id = $1", [id])
        .then(({ rowCount }) => rowCount === 0 && early.push(id))
        .then(() => setTimeout(() => res.end("ok"), random() * 20));
    }).start();
    afterTest(() => receiver.stop());
    await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const assistantId = await quietAssistant(running.api);
    const chats = await Promise.all(Array.from({ length: CHATS }, () => newChat(running.api, assistantId)));

    const start = () =>
      startServer({
        ...SETTINGS,
        DATABASE_URL: running.database.ownerUrl,
        OUTBOUND_ALLOW: "127.0.0.0/8",
        TAKEOVER_SECONDS: "4",
      });
    const servers: ServerProcess[] = await Promise.all([start(), start()]);
    /** Sends to either server until the message is acknowledged. */
    const insist = async <T>(act: (api: Api) => Promise<T>): Promise<T> => {
      for (;;)
        try {
          return await act(servers[random() < 0.5 ? 0 : 1]!.api);
        } catch {
          await sleep(50);
        }
    };
    let killing = true;
    const acknowledged: string[] = [];
    const talk = async (chatId: string) => {
      for (let n = 0; n < MESSAGES; n++) {
        const message = said(chatId, `message ${n}`);
        const { id } = (await insist((api) => api.post("/rest/v1/ai-chats/messages", message, 201))) as {
          id: string;
        };
        acknowledged.push(id);
        if (killing) await sleep(random() * 300);
      }
      const end = "mutation ($id: ID!) { endChat(id: $id) { id } }";
      await insist((api) => api.gql(end, { id: chatId }));
    };
    const talks = Promise.all(chats.map(talk));
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(200 + random() * 800);
      const victim = random() < 0.5 ? 0 : 1;
      await servers[victim]!.end("SIGKILL");
      servers[victim] = await start();
    }
    killing = false;
    await talks;

    const waiting = "select from deliveries where status <> 'DELIVERED' limit 1";
    await until(async () => (await running.database.query(waiting)).length === 0);
    const stored = await running.database.query<StoredEvent>(
      "select id, chat_id, chat_sequence, coalesce(digest, body) as content from events order by id",
    );
    const messages = await running.database.query<{ id: string }>("select id from messages");
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
    expect(stored.length).toBeGreaterThanOrEqual(EVENTS);

    const contents = new Map(stored.map(({ id, content }) => [id, content]));
    const firsts = new Set<string>();
    let twice = 0;
    for (const { headers, text } of receiver.received) {
      const id = headers["webhook-id"] as string;
      if (firsts.has(id)) twice++;
      firsts.add(id);
      expect([text, digestOf(text)]).toContain(contents.get(id));
      expect(headers["x-signature"]).toBe(createHmac("sha256", "s").update(text).digest("hex"));
    }
    expect([...firsts].sort()).toEqual(stored.map(({ id }) => id));
    expect(early).toEqual([]);
    expect(twice).toBeLessThanOrEqual(KILLS * IN_FLIGHT);
    for (const chatId of chats) {
      const own = stored
        .filter(({ chat_id }) => chat_id === chatId)
        .sort((one, another) => one.chat_sequence - another.chat_sequence)
        .map(({ id }) => id);
      const ofChat = new Set(own);
      expect([...firsts].filter((id) => ofChat.has(id))).toEqual(own);
    }
  },
  4 * SERVER_TIMEOUT_MS,
);
