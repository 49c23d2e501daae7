import type { Repeater } from "@graphql-yoga/subscription";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import { Ledger, type EventHead, type LedgerPosition } from "../../events/events/ledger";
import { follow, type ChangeListener } from "../../events/events/organization-events";
import { Calls, type Call } from "./calls";

/** A change of a call's status. */
export interface CallEvent {
  /** Id of the stored event; a subscription with `after` set to it resumes after this event. */
  readonly id: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly createdAt: Date;
  /** The call in its current state, which may be later than `status`. */
  readonly call: Call;
}

interface CallEventFilter {
  /** Restricts the events to one call; null for all calls. */
  readonly callId?: string | null;
  readonly after?: string | null;
}

const PAGE_SIZE = 500;

/**
 * Streams status changes from now, or after the given event: of one call until it ends, or of all calls of the
 * organization.
 * @throws CALL_NOT_FOUND, EVENT_NOT_FOUND
 */
export async function callEvents(
  fresh: () => Scope,
  listener: ChangeListener,
  wanted: CallEventFilter,
): Promise<Repeater<CallEvent>> {
  if (wanted.callId != null) await fresh().of(Calls).byId(wanted.callId);
  let finished: boolean | undefined;
  return follow(fresh, listener, wanted.after, async (scope, from) => {
    // Checked only once the position is known, because the call may end while the position is looked up.
    if ((finished ??= await isPast(scope, wanted)))
      return { items: [], position: from, more: false, done: true };
    const { heads, position } = await scope.of(Ledger).headsAfter(from, PAGE_SIZE);
    const found = await Promise.all(
      heads.filter((head) => isWanted(head, wanted)).map((head) => eventOf(scope, head)),
    );
    const items = found.filter((event) => event !== undefined);
    const over = wanted.callId != null && items.some(({ status }) => status === "ended");
    return { items, position, more: heads.length === PAGE_SIZE, done: over };
  });
}

const isWanted = ({ name, type, chatId }: EventHead, { callId }: CallEventFilter): boolean =>
  name === "status-changed" && type === "VOICE" && (callId == null || chatId === callId);

/** Undefined for a VOICE chat that is not a call. */
async function eventOf(scope: Scope, { id, chatId }: EventHead): Promise<CallEvent | undefined> {
  const [event, call] = await Promise.all([
    scope.of(Events).byId(id),
    scope
      .of(Calls)
      .byId(chatId!) // status events always name a chat
      .catch(() => undefined),
  ]);
  if (!event || !call) return undefined;
  const { status, endedReason } = event.payload.data as { status: string; endedReason?: string };
  return { id, status, endedReason: endedReason ?? null, createdAt: event.createdAt, call };
}

/** Whether the subscriber has already received the end of the call, so that no more events can follow. */
async function isPast(scope: Scope, { callId, after }: CallEventFilter): Promise<boolean> {
  if (callId == null) return false;
  const { status } = await scope.of(Calls).byId(callId);
  if (status !== "ended" || after == null) return status === "ended";
  const seen = await scope.of(Ledger).positionOf(after);
  const { nodes } = await scope.of(Events).list({ first: 1 }, { chatId: callId, name: "status-changed" });
  return nodes[0] === undefined || !isAfter(await scope.of(Ledger).positionOf(nodes[0].id), seen);
}

const isAfter = (one: LedgerPosition, other: LedgerPosition): boolean =>
  one.position === other.position ? one.id > other.id : BigInt(one.position) > BigInt(other.position);
