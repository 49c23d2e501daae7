import type { Repeater } from "@graphql-yoga/subscription";
import type { Scope } from "../../platform/database/scope";
import { polled } from "../../platform/polled";
import { Deliveries, type Delivery } from "./deliveries";
import { sharedRow } from "./destination-rows";

/** New deliveries are looked for over so many seconds, because a transaction shows its rows only when it ends. */
const WINDOW_SECONDS = 15;
/** Deliveries of one read, and deliveries that are followed. Of more, the newest are. */
const MOST = 1_000;

/** Deliveries by id, with what was last seen of each. */
type Seen = Map<string, string>;

const stateOf = ({ status, attempts }: Delivery): string => `${status} ${attempts.length}`;

/**
 * Streams the pending deliveries, then deliveries when they are made, after each attempt, and when they are given up: to one
 * destination, or to all of the organization.
 * @param fresh creates a scope for each read
 * @throws WEBHOOK_DESTINATION_NOT_FOUND
 */
export async function deliveryChanges(
  fresh: () => Scope,
  destinationId: string | null | undefined,
): Promise<Repeater<Delivery>> {
  if (destinationId != null) await sharedRow(fresh(), destinationId);
  const seenOf = (found: readonly Delivery[]): Seen => new Map(found.map((one) => [one.id, stateOf(one)]));
  const finished = await recentAndFollowed(fresh(), destinationId, new Map());
  let seen = seenOf(finished.filter(({ status }) => status !== "PENDING"));
  let waiting: readonly Delivery[] | undefined = await pending(fresh(), destinationId);
  return polled(async () => {
    const found = waiting ?? (await recentAndFollowed(fresh(), destinationId, seen));
    const items = found.filter((delivery) => seen.get(delivery.id) !== stateOf(delivery));
    seen = new Map([...(waiting ? seen : []), ...seenOf(found)]);
    waiting = undefined;
    return { items };
  });
}

/** Not those of deleted destinations, which a job removes. */
const deliveriesTo = (scope: Scope, destinationId: string | null | undefined) => {
  const there = scope.table("webhook_destinations").select("id");
  const rows = scope.table("deliveries").whereIn("destinationId", there);
  return destinationId == null ? rows : rows.where({ destinationId });
};

/** Deliveries of one transaction, which have the same time, have their place, too. */
const byAge = (one: Delivery, other: Delivery): number =>
  one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);

async function pending(scope: Scope, destinationId: string | null | undefined): Promise<Delivery[]> {
  const all = () => scope.table("webhook_destinations").select("id");
  const ids = destinationId == null ? (await all()).map(({ id }) => id) : [destinationId];
  return (await scope.of(Deliveries).newestPending(ids, MOST)).flat().sort(byAge).slice(-MOST);
}

/** The newest deliveries, and those that were pending at the last read; oldest first. */
async function recentAndFollowed(
  scope: Scope,
  destinationId: string | null | undefined,
  seen: Seen,
): Promise<Delivery[]> {
  const rows = deliveriesTo(scope, destinationId);
  const recent = await rows
    .whereRaw("created_at > now() - make_interval(secs => ?)", [WINDOW_SECONDS])
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(MOST);
  const known = new Set(recent.map(({ id }) => id));
  const followed = [...seen].filter(([id, state]) => state.startsWith("PENDING") && !known.has(id));
  const ids = followed.slice(-MOST).map(([id]) => id);
  const others =
    ids.length === 0 ? [] : await scope.table("deliveries").whereRaw("id = any(?::text[])", [ids]);
  return [...others, ...recent].sort(byAge);
}
