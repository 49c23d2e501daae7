import { LRUCache } from "lru-cache";
import type { EventKind } from "../../platform/ports/ports";

/** Kinds of events, of all organizations, whose receivers are remembered. */
const MAX_KINDS = 10_000;

const keyOf = (organizationId: string, { assistantId, name }: EventKind): string =>
  JSON.stringify([organizationId, assistantId, name]);

/** Remembers the destinations of past events of each kind, which are likely to get the next one, too. */
export class Receivers {
  private readonly byKind = new LRUCache<string, Set<string>>({ max: MAX_KINDS });

  /** Ids of destinations. */
  of(organizationId: string, kind: EventKind): ReadonlySet<string> {
    return this.byKind.get(keyOf(organizationId, kind)) ?? new Set();
  }

  /** Notes that a destination gets such events. */
  add(organizationId: string, kind: EventKind, destinationId: string): void {
    const key = keyOf(organizationId, kind);
    const known = this.byKind.get(key);
    if (known) known.add(destinationId);
    else this.byKind.set(key, new Set([destinationId]));
  }

  /** Notes that a destination got none. */
  remove(organizationId: string, kind: EventKind, destinationId: string): void {
    this.byKind.get(keyOf(organizationId, kind))?.delete(destinationId);
  }
}
