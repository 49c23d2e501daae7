import { queueAll } from "../support/database";
import { removeJobs } from "../support/jobs";
import { Receiver, type ReceivedRequest } from "../support/receiver";
import type { Bijection } from "./bijection";
import type { Seed } from "./seed";
import type { Side, Sides } from "./sides";

/** The part of the certificate about webhook deliveries. */
export interface DeliveryResult {
  readonly deliveries: number;
  readonly differences: readonly string[];
}

/** Lets each server deliver the events of its cases to a receiver of its own, and compares what arrived. */
export async function compareDeliveries(
  { rest, graphql, seed }: Sides<Seed>,
  bijection: Bijection,
): Promise<DeliveryResult> {
  const [left, right] = (await Promise.all(
    [rest, graphql].map((side) => deliveredBy(side, seed.destinationId)),
  )) as [ReceivedRequest[], ReceivedRequest[]];
  return {
    deliveries: left.length,
    differences: [
      ...(left.length === 0 ? ["nothing was delivered"] : []),
      ...bijection.differences(inOrderOfEvents(left), inOrderOfEvents(right), "deliveries"),
      ...bijection.differences(orderInChats(left), orderInChats(right), "order of deliveries"),
    ],
  };
}

async function deliveredBy(side: Side, destinationId: string): Promise<ReceivedRequest[]> {
  const { database } = side;
  await removeJobs(database); // calls and answers would add events at times of their own
  await database.query("delete from deliveries where destination_id <> $1", [destinationId]);
  const receiver = await new Receiver().start();
  await database.query("update webhook_destinations set url = $2 where id = $1", [
    destinationId,
    receiver.url,
  ]);
  const pending = await database.query<{ id: string }>(
    "select event_id as id from deliveries where status = 'PENDING'",
  );
  const wanted = new Set(pending.map(({ id }) => id));
  await queueAll(database);
  const app = await side.serve({ WORKER: "on" });
  const arrived = await receiver.until(pending.length, ({ headers }) =>
    wanted.has(String(headers["webhook-id"])),
  );
  await app.stop();
  await receiver.stop();
  return arrived;
}

const idOf = ({ headers }: ReceivedRequest) => String(headers["webhook-id"]);

/** Headers and bodies. Events have ids in the order of their creation. */
const inOrderOfEvents = (received: readonly ReceivedRequest[]) =>
  [...received]
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    .map(({ headers, body }) => ({
      body,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.startsWith("webhook-") && !OF_MOMENT.includes(name)),
      ),
    }));
/** A time in seconds, and a signature that contains it. */
const OF_MOMENT = ["webhook-timestamp", "webhook-signature"];

/** Ids of the events of each conversation, in the order of their arrival. */
function orderInChats(received: readonly ReceivedRequest[]): string[][] {
  const chats = new Map<string, string[]>();
  for (const one of [...received]) {
    const chat = String(one.headers["webhook-chat-id"]);
    chats.set(chat, [...(chats.get(chat) ?? []), idOf(one)]);
  }
  return [...chats.values()].sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}
