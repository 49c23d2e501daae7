import type { Knex } from "knex";
import { unlessReadOnly } from "../../platform/database/connections/read-only";
import type { Scope } from "../../platform/database/scope";
import { statement, unprepared, type Statement } from "../../platform/database/statement";
import { missing } from "../../platform/errors";
import { toEvents, type Event, type EventRow } from "./events";
import { sequence } from "./sequencer";

/** A position in the ledger: of an event, or of the end. */
export interface LedgerPosition {
  readonly position: string;
  /** Orders events of the same position: those written before the sequencer existed. */
  readonly id: string;
}

/** An event without its payload. */
export type EventHead = Pick<Event, "id" | "name" | "type" | "chatId">;

const END = statement<LedgerPosition>(({ table, db }) =>
  table("ledger_heads").select(db.raw("(position + 1)::text as position"), db.raw("'' as id")),
);

const POSITION_OF_EVENT = statement<LedgerPosition>(({ table, $, db }) =>
  table("events")
    .where({ id: $(1) })
    .select(db.raw("id, transaction::text as position")),
);

/** Not prepared: a generic plan does not know how few rows are needed. */
const after = <R extends { readonly id: string }>(...columns: readonly ("*" | (keyof R & string))[]) =>
  unprepared<R & LedgerPosition>(({ table, $, db }) => {
    const rows = table("events")
      .whereRaw("(transaction, id) > (?::xid8, ?)", [$(1), $(2)])
      .orderBy(["transaction", "id"])
      .select(...columns, db.raw("transaction::text as position"));
    const query: Knex.Raw = db.raw("? limit ?", [rows, $(3)]);
    return query;
  });
const EVENTS_AFTER = after<EventRow>("*");
const HEADS_AFTER = after<EventHead>("id", "name", "type", "chatId");

/** The events of an organization in the order of their positions. */
export class Ledger {
  constructor(private readonly scope: Scope) {}

  /**
   * Events after a position, oldest first, and the position of the last one. Events get their positions after their
   * commit, so none can appear later before a position that has been read.
   */
  async after(from: LedgerPosition, limit: number): Promise<{ events: Event[]; position: LedgerPosition }> {
    const { rows, position } = await this.rowsAfter(from, limit, EVENTS_AFTER);
    return { events: await toEvents(this.scope, rows), position };
  }

  /** The same without payloads, for readers that need few of many events. */
  async headsAfter(
    from: LedgerPosition,
    limit: number,
  ): Promise<{ heads: EventHead[]; position: LedgerPosition }> {
    const { rows, position } = await this.rowsAfter(from, limit, HEADS_AFTER);
    return { heads: rows, position };
  }

  private async rowsAfter<R extends LedgerPosition>(
    from: LedgerPosition,
    limit: number,
    statement: Statement<R>,
  ): Promise<{ rows: R[]; position: LedgerPosition }> {
    await sequence(this.scope).catch(unlessReadOnly);
    const rows = await this.scope.read(statement, [from.position, from.id, limit]);
    const last = rows.at(-1);
    return { rows, position: last ? { position: last.position, id: last.id } : from };
  }

  /** The position of an event; without an id, the end of the ledger. @throws EVENT_NOT_FOUND */
  async positionOf(id: string | null | undefined): Promise<LedgerPosition> {
    await sequence(this.scope).catch(unlessReadOnly);
    const { scope } = this;
    const [row] = await (id == null ? scope.read(END) : scope.read(POSITION_OF_EVENT, [id]));
    return row ?? missing("Event", id ?? "");
  }
}
