import { setImmediate as nextRound } from "node:timers/promises";
import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { DeliveryQueues, type ClaimedQueue } from "../../src/events/webhooks/queues";
import { openLogger } from "../../src/platform/logger";
import { Lanes } from "../../src/worker/dispatcher/lanes";
import { QueueRuns } from "../../src/worker/dispatcher/queue-runs";
import { Recorder } from "../../src/worker/dispatcher/recorder";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { statementsOf } from "../support/plans";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";

/** The tests are the worker. */
const running = useApp({ WORKER: "off" });
const LEASE_MS = 60_000;

let organizationId: string;
let assistantId: string;
let receiver: Receiver;
let destinationId: string;
beforeAll(async () => {
  ({ id: organizationId } = await running.api.get("/rest/v1/organization", 200));
  assistantId = await quietAssistant(running.api);
});
beforeEach(async () => {
  receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  const settings = { url: receiver.url, secret: "s" };
  ({ id: destinationId } = await running.api.post("/rest/v1/settings", settings, 201));
  afterTest(() => running.api.delete(`/rest/v1/settings/${destinationId}`, 200));
});

const scope = () => running.app.database.scope(organizationId);
const claim = (most: number) => scope().of(DeliveryQueues).claim(destinationId, most, LEASE_MS);

/** A worker that has a place for one queue. */
function oneAtATime() {
  const lanes = new Lanes();
  const runs = new QueueRuns({
    ...{ lanes, scopeOf: scope, outbound: scope().ports.outbound, logger: openLogger("silent") },
    ...{ takeoverMs: LEASE_MS, webhookTimeoutMs: LEASE_MS },
    reports: { countGivenUp: () => undefined, countAttempt: () => undefined },
    ended: () => undefined,
    isStopping: () => false,
  });
  return async (queue: ClaimedQueue) => {
    runs.start(lanes.markPending(organizationId, destinationId), { scope: scope(), queue });
    await runs.idle();
  };
}

test("two long conversations have their turns at a worker with one place, each for 16 deliveries", async () => {
  const [one, other] = [await newChat(running.api, assistantId), await newChat(running.api, assistantId)];
  // With the beginning of the chat and its status, each has 36 events.
  for (let number = 0; number < 34; number++)
    for (const chat of [one, other]) await say(running.api, chat, `message ${number}`);
  const turns: [chatId: string, deliveries: number][] = [];
  const send = oneAtATime();
  for (let [queue] = await claim(1); queue; [queue] = await claim(1)) {
    const before = receiver.received.length;
    await send(queue);
    const chats = receiver.received.slice(before).map(({ headers }) => headers["webhook-chat-id"]);
    expect(new Set(chats)).toEqual(new Set([queue.chatId]));
    turns.push([queue.chatId, chats.length]);
  }
  const both = (deliveries: number) => [one, other].map((chat) => [chat, deliveries]);
  expect(turns).toEqual([...both(16), ...both(16), ...both(4)]);
});

test("results that arrive together, or while others are being recorded, are recorded by one statement", async () => {
  const CHATS = 20;
  for (let count = 0; count < CHATS; count++) await newChat(running.api, assistantId);
  const [first, ...others] = await claim(CHATS);
  expect(others).toHaveLength(CHATS - 1);
  const recorder = new Recorder(scope, LEASE_MS, () => false);
  const attempt = { number: 1, status: 200, error: null, answer: "ok", durationMs: 5 };
  const record = (queue: ClaimedQueue) => {
    const { id, attempt: number } = queue.first!;
    const entry = [{ ...attempt, startedAt: new Date().toISOString() }] as const;
    const result = { id, attempt: number, status: "DELIVERED", entry, pauseMs: null, body: null } as const;
    return recorder.advance(organizationId, { queue, result, continues: false, releases: true });
  };
  const statements = await statementsOf(running.app.database, /\brecorded\b/, async () => {
    const recorded = [record(first!)];
    await nextRound(); // its statement has begun
    recorded.push(...others.map(record));
    for (const { status } of await Promise.all(recorded)) expect(status).toBe("DELIVERED");
  });
  expect(statements).toHaveLength(2);
});
