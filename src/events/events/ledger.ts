import { unlessReadOnly } from "../../platform/database/read-only";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { toEvent, type Event, type EventRow } from "./events";
import { sequence } from "./sequencer";

/** A place in the ledger. */
export interface Place {
  readonly position: string;
  /** Events from before there were sequencers share positions. */
  readonly id: string;
}

/** An event without what it says. */
export type EventHead = Pick<Event, "id" | "name" | "type" | "chatId">;

/** The events of an organization in the order of their positions. */
export class Ledger {
  constructor(private readonly scope: Scope) {}

  /**
   * Those behind a place in the ledger, oldest first. What is still being written gets its position when it is
   * committed, so that nothing can appear later behind a place that was passed.
   */
  async behind(from: Place, most: number): Promise<{ events: Event[]; place: Place }> {
    const { rows, place } = await this.rowsBehind<EventRow>(from, most, ["*"]);
    return { events: rows.map(toEvent), place };
  }

  /** The same without what the events say: for who wants few of many. */
  async headsBehind(from: Place, most: number): Promise<{ heads: EventHead[]; place: Place }> {
    const { rows, place } = await this.rowsBehind<EventHead>(from, most, ["id", "name", "type", "chatId"]);
    return { heads: rows, place };
  }

  private async rowsBehind<R extends { readonly id: string }>(
    from: Place,
    most: number,
    columns: readonly string[],
  ): Promise<{ rows: R[]; place: Place }> {
    await sequence(this.scope).catch(unlessReadOnly);
    const rows = (await this.scope
      .table("events")
      .select(...columns, this.scope.asText("transaction", "position"))
      .whereRaw("(transaction, id) > (?::xid8, ?)", [from.position, from.id])
      .orderBy(["transaction", "id"])
      .limit(most)) as (R & { readonly position: string })[]; // the columns asked for
    const last = rows.at(-1);
    return { rows, place: last ? { position: last.position, id: last.id } : from };
  }

  /** Where an event stands in the ledger; without one, its end. @throws EVENT_NOT_FOUND */
  async place(id: string | null | undefined): Promise<Place> {
    await sequence(this.scope).catch(unlessReadOnly);
    const [row] = await this.scope.named<Place>(
      undefined,
      (table, $, db) =>
        id == null
          ? table("ledger_heads").select(db.raw("(position + 1)::text as position"), db.raw("'' as id"))
          : table("events")
              .select("id", db.raw("transaction::text as position"))
              .where({ id: $(1) }),
      id == null ? [] : [id],
    );
    return row ?? missing("Event");
  }
}
