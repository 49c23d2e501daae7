import { afterEach, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";

/** The hanging receiver hangs until the end of the test. */
const running = useApp({ WORKER: "on", WEBHOOK_TIMEOUT_SECONDS: "60" });
const receivers: Receiver[] = [];
afterEach(() => Promise.all(receivers.map((receiver) => receiver.stop())));

async function destination(...reply: ConstructorParameters<typeof Receiver>): Promise<Receiver> {
  const receiver = await new Receiver(...reply).start();
  receivers.push(receiver);
  await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
  return receiver;
}

test("nineteen receivers get every event while a twentieth hangs", async () => {
  let given = 0;
  const hanging = await destination((res) => void res.on("close", () => given++));
  const others: Receiver[] = [];
  for (let n = 1; n < 20; n++) others.push(await destination());
  const assistantId = await quietAssistant(running.api);
  const chats: string[] = [];
  for (let n = 0; n < 6; n++) chats.push(await newChat(running.api, assistantId));
  for (let n = 0; n < 5; n++) for (const chatId of chats) await say(running.api, chatId, `message ${n}`);
  const events = await running.database.query<{ id: string }>(
    "select id from events where chat_id = any($1)",
    [chats],
  );
  expect(events).toHaveLength(6 * (2 + 5));
  for (const receiver of others) {
    const received = await receiver.until(events.length);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toEqual(
      new Set(events.map(({ id }) => id)),
    );
  }
  expect(hanging.received.length).toBeGreaterThan(0);
  expect(given).toBe(0);
}, 55_000);
