import { queueAll } from "../support/database";
import type { ReceivedRequest, Receiver } from "../support/receiver";
import type { Bijection } from "./bijection";
import type { Seed } from "./seed";
import type { Side, Sides } from "./sides";

/** What the certificate says of webhook deliveries. */
export interface DeliveryResult {
  readonly deliveries: number;
  readonly differences: readonly string[];
}

/** Lets each server deliver the events of its cases to a receiver, one after the other, and compares what arrived. */
export async function compareDeliveries(
  { rest, graphql, seed }: Sides<Seed>,
  receiver: Receiver,
  bijection: Bijection,
): Promise<DeliveryResult> {
  const left = await deliveredBy(rest, seed.destinationId, receiver);
  const right = await deliveredBy(graphql, seed.destinationId, receiver);
  return {
    deliveries: left.length,
    differences: [
      ...(left.length === 0 ? ["nothing was delivered"] : []),
      ...bijection.differences(inOrderOfEvents(left), inOrderOfEvents(right), "deliveries"),
      ...bijection.differences(orderInChats(left), orderInChats(right), "order of deliveries"),
    ],
  };
}

async function deliveredBy(
  side: Side,
  destinationId: string,
  receiver: Receiver,
): Promise<ReceivedRequest[]> {
  const { database } = side;
  await database.query("delete from deliveries where destination_id <> $1", [destinationId]);
  const pending = await database.query<{ id: string }>(
    "select event_id as id from deliveries where status = 'PENDING'",
  );
  const wanted = new Set(pending.map(({ id }) => id));
  await queueAll(database);
  receiver.received.length = 0;
  const app = await side.serve({ WORKER: "on" });
  // The worker also goes on with calls, whose events the other server may have at other times.
  const arrived = await receiver.until(pending.length, ({ headers }) =>
    wanted.has(String(headers["webhook-id"])),
  );
  await app.stop();
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
