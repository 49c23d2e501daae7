import { LRUCache } from "lru-cache";

/** Characters of all bodies. */
const MAX_SIZE = 4 * 1_048_576;

/** Bodies of events that this process has just recorded, with the number of deliveries that will need them. */
const recent = new LRUCache<string, { readonly body: string; readonly left: number }>({
  maxSize: MAX_SIZE,
  sizeCalculation: ({ body }) => body.length,
});

/** Keeps the body of a new event for its deliveries, which often follow at once and in the same process. */
export function keepRecentBody(eventId: string, body: string, deliveries: number): void {
  if (deliveries > 0) recent.set(eventId, { body, left: deliveries });
}

/** The body for a delivery. Forgets it after the last one. */
export function takeRecentBody(eventId: string): string | undefined {
  const found = recent.get(eventId);
  if (!found) return undefined;
  recent.delete(eventId);
  keepRecentBody(eventId, found.body, found.left - 1);
  return found.body;
}
