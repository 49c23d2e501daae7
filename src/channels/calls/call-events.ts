import type { Repeater } from "@graphql-yoga/subscription";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import { Ledger, type EventHead, type LedgerPosition } from "../../events/events/ledger";
import { follow, type ChangeListener } from "../../events/events/organization-events";
import { Calls, type Call } from "./calls";

/** A change of a call's status. Its id is the event's, and resumes the stream behind it. */
export interface CallEvent {
  readonly id: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly createdAt: Date;
  /** As it stands now, which may be further. */
  readonly call: Call;
}

interface Wanted {
  /** All calls without it. */
  readonly callId?: string | null;
  readonly after?: string | null;
}

const MOST = 500;

/**
 * How the status of calls changes, behind the event `after` or from now on: of one call until it has ended, or of all
 * calls of the organization.
 * @throws CALL_NOT_FOUND, EVENT_NOT_FOUND
 */
export async function callEvents(
  fresh: () => Scope,
  listener: ChangeListener,
  wanted: Wanted,
): Promise<Repeater<CallEvent>> {
  if (wanted.callId != null) await fresh().of(Calls).byId(wanted.callId);
  let nothing: boolean | undefined;
  return follow(fresh, listener, wanted.after, async (scope, from) => {
    // Once the place is known: a call may have ended while it was looked for.
    if ((nothing ??= await isPast(scope, wanted))) return { items: [], place: from, more: false, done: true };
    const { heads, place } = await scope.of(Ledger).headsAfter(from, MOST);
    const found = await Promise.all(
      heads.filter((head) => isWanted(head, wanted)).map((head) => eventOf(scope, head)),
    );
    const items = found.filter((event) => event !== undefined);
    const over = wanted.callId != null && items.some(({ status }) => status === "ended");
    return { items, place, more: heads.length === MOST, done: over };
  });
}

const isWanted = ({ name, type, chatId }: EventHead, { callId }: Wanted): boolean =>
  name === "status-changed" && type === "VOICE" && (callId == null || chatId === callId);

/** Undefined for a chat by voice that is no call. */
async function eventOf(scope: Scope, { id, chatId }: EventHead): Promise<CallEvent | undefined> {
  const [event, call] = await Promise.all([
    scope.of(Events).byId(id),
    scope
      .of(Calls)
      .byId(chatId!) // a status is a chat's
      .catch(() => undefined),
  ]);
  if (!event || !call) return undefined;
  const { status, endedReason } = event.payload.data as { status: string; endedReason?: string };
  return { id, status, endedReason: endedReason ?? null, createdAt: event.createdAt, call };
}

/** Whether a call's end has been seen already: nothing comes behind it. */
async function isPast(scope: Scope, { callId, after }: Wanted): Promise<boolean> {
  if (callId == null) return false;
  const { status } = await scope.of(Calls).byId(callId);
  if (status !== "ended" || after == null) return status === "ended";
  const seen = await scope.of(Ledger).place(after);
  const { nodes } = await scope.of(Events).list({ first: 1 }, { chatId: callId, name: "status-changed" });
  return nodes[0] === undefined || !isBehind(await scope.of(Ledger).place(nodes[0].id), seen);
}

const isBehind = (one: LedgerPosition, other: LedgerPosition): boolean =>
  one.position === other.position ? one.id > other.id : BigInt(one.position) > BigInt(other.position);
