import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { LONG } from "../support/suite";

const running = useApp({ WORKER: "off" });

const EVENTS = LONG ? 10_000 : 1_000;
const REPLAY = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }";

test(
  `${EVENTS} pending events are all delivered, once and in order per chat, when a server starts`,
  async () => {
    const { api, database } = running;
    const chatId = await newChat(api, await quietAssistant(api));
    // Events of 500 more chats, copied from the first.
    await database.query(
      `insert into events (organization_id, id, name, type, assistant_id, chat_id, body)
       select organization_id, 'made-' || lpad(n::text, 8, '0'), name, type, assistant_id, 'chat-' || n % 500, body
       from events, generate_series(3, $2::int) as n where chat_id = $1 and name = 'session-start'`,
      [chatId, EVENTS],
    );
    const receiver = await new Receiver().start();
    afterTest(() => receiver.stop());
    const { id } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const { replayEvents } = await api.gql(REPLAY, { input: { destinationId: id, dryRun: false } });
    expect(replayEvents.events).toBe(EVENTS);

    await startServer({ ...SETTINGS, DATABASE_URL: database.ownerUrl, OUTBOUND_ALLOW: "127.0.0.0/8" });
    await receiver.until(EVENTS, undefined, 8 * SERVER_TIMEOUT_MS);
    const stored = await database.query<{ id: string; chat_id: string }>("select id, chat_id from events");
    const chatOf = new Map(stored.map((event) => [event.id, event.chat_id]));
    const sent = receiver.received.map(({ headers }) => headers["webhook-id"] as string);
    expect([...sent].sort()).toEqual(stored.map((event) => event.id).sort());
    const last = new Map<string, string>();
    for (const event of sent) {
      const chat = chatOf.get(event)!;
      expect(event > (last.get(chat) ?? "")).toBe(true);
      last.set(chat, event);
    }
  },
  10 * SERVER_TIMEOUT_MS,
);
