import type { Scope } from "../database/scope";
import { missing } from "../errors";
import { toEvent, type Event, type EventRow } from "./events";

/** A place in the ledger. */
export interface Place {
  readonly transaction: string;
  readonly id: string;
  /** The snapshot in which the ledger ended here: what it shows lies before, though an older transaction was still open. */
  readonly seen?: string | null;
}

/** An event without what it says. */
export type EventHead = Pick<Event, "id" | "name" | "type" | "chatId">;

/** The events of an organization in the order in which they came to be seen. */
export class Ledger {
  constructor(private readonly scope: Scope) {}

  /**
   * Those behind a place in the ledger, oldest first. What is still being written is left out, and all that was
   * written after it, so that nothing can appear later behind a place that was passed.
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
    { transaction, id, seen }: Place,
    most: number,
    columns: readonly string[],
  ): Promise<{ rows: R[]; place: Place }> {
    const events = this.scope.table("events");
    if (seen) void events.whereRaw("not pg_visible_in_snapshot(transaction, ?::pg_snapshot)", [seen]);
    const rows = (await events
      .select(...columns, this.scope.asText("transaction", "written"))
      .whereRaw("(transaction, id) > (?::xid8, ?)", [transaction, id])
      .whereRaw("transaction < pg_snapshot_xmin(pg_current_snapshot())")
      .orderBy(["transaction", "id"])
      .limit(most)) as (R & { readonly written: string })[];
    const last = rows.at(-1);
    return { rows, place: { transaction: last?.written ?? transaction, id: last?.id ?? id, seen } };
  }

  /** Where an event stands in the ledger; without one, its end. @throws EVENT_NOT_FOUND */
  async place(id: string | null | undefined): Promise<Place> {
    const [row] = await this.scope.named<Place>(
      undefined,
      (table, $, db) =>
        id == null
          ? db.raw(
              `select pg_snapshot_xmin(pg_current_snapshot())::text as transaction, '' as id,
                      pg_current_snapshot()::text as seen where $1::text is not null`,
            )
          : table("events")
              .select("id", db.raw("transaction::text as transaction"))
              .where({ id: $(1) }),
      id == null ? [] : [id],
    );
    return row ?? missing("Event");
  }
}
