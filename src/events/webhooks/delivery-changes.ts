import type { Repeater } from "@graphql-yoga/subscription";
import type { Scope } from "../../platform/database/scope";
import { polled } from "../../platform/polled";
import type { Delivery } from "./deliveries";
import { WebhookDestinations } from "./destinations";

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
  if (destinationId != null) await fresh().of(WebhookDestinations).byId(destinationId);
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

const deliveriesTo = (scope: Scope, destinationId: string | null | undefined) => {
  const rows = scope.table("deliveries");
  return destinationId == null ? rows : rows.where({ destinationId });
};

/** In an order in which those of one transaction, which have the same time, have their place, too. */
const newestOf = (rows: ReturnType<typeof deliveriesTo>) =>
  rows.orderBy("createdAt", "desc").orderBy("id", "desc").limit(MOST);

async function pending(scope: Scope, destinationId: string | null | undefined): Promise<Delivery[]> {
  return (await newestOf(deliveriesTo(scope, destinationId).where({ status: "PENDING" }))).reverse();
}

/** The newest deliveries, and those that were pending at the last read; oldest first. */
async function recentAndFollowed(
  scope: Scope,
  destinationId: string | null | undefined,
  seen: Seen,
): Promise<Delivery[]> {
  const rows = deliveriesTo(scope, destinationId);
  const recent = await newestOf(
    rows.whereRaw("created_at > now() - make_interval(secs => ?)", [WINDOW_SECONDS]),
  );
  const known = new Set(recent.map(({ id }) => id));
  const followed = [...seen].filter(([id, state]) => state.startsWith("PENDING") && !known.has(id));
  const ids = followed.slice(-MOST).map(([id]) => id);
  const others =
    ids.length === 0 ? [] : await scope.table("deliveries").whereRaw("id = any(?::text[])", [ids]);
  return [...others, ...recent].sort(
    (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
  );
}
