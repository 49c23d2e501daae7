import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Caller } from "../../account/auth/caller";
import { visitorOf, type RateLimits } from "../limits/limits";

/** Maximum number of open sockets per address and per organization. */
export interface MaxSockets {
  readonly address: number;
  readonly organization: number;
}

/** Maximum number of open sockets per visitor. */
const MAX_VISITOR_SOCKETS = 20;

/** Counts the open sockets of this process by key. */
export class OpenSockets {
  private readonly counts = new Map<string, number>();

  /** Counts a socket for `key`. @returns a function that releases it; undefined if `limit` is reached */
  open(key: string, limit: number): (() => void) | undefined {
    const count = this.counts.get(key) ?? 0;
    if (count >= limit) return undefined;
    this.counts.set(key, count + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = this.counts.get(key)! - 1; // counted above
      if (left === 0) this.counts.delete(key);
      else this.counts.set(key, left);
    };
  }
}

/** Counts a socket or stream for its credential until it closes. @returns false if a limit is reached */
export function countStream(
  { limits, maxSockets }: { readonly limits: RateLimits; readonly maxSockets: MaxSockets },
  open: OpenSockets,
  request: IncomingMessage,
  stream: EventEmitter,
  { organizationId, visitor }: Caller,
): boolean {
  if (limits.sourceOf(request) === undefined) return true;
  const releases = [open.open(`organization ${organizationId}`, maxSockets.organization)];
  if (visitor)
    releases.push(open.open(`visitor ${organizationId} ${visitorOf(visitor)}`, MAX_VISITOR_SOCKETS));
  for (const release of releases) if (release) stream.once("close", release);
  return releases.every((release) => release !== undefined);
}
