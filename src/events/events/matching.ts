import { areStepsDone } from "../../platform/database/done-steps";
import { spanned, valueOr, type Place, type Span } from "../../platform/database/lists/connection";
import { idIn, placeIn } from "../../platform/database/lists/cursors";
import { EVENT_NAMES, type EventName } from "../../platform/database/tables/event-names";
import type { RowsOf } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { boundByTime, CREATED_AT } from "../../platform/database/lists/time-bounds";

export interface EventFilter {
  readonly name?: EventName | null;
  readonly chatId?: string | null;
  readonly assistantId?: string | null;
  readonly createdAfter?: Date | null;
  readonly createdBefore?: Date | null;
}

/** Indexes with events in the order of the ledger. */
const INDEXES = ["events_of_name", "events_of_assistant", "events_by_time"];
const BY_POSITION = ["transaction", "id"];
const POSITION = { name: "transaction", next: "(transaction::text::bigint + 1)::text::xid8" };

/** Whether the indexes are built by which few of many events are found. */
export const areIndexed = (scope: Scope): Promise<boolean> => areStepsDone(scope, INDEXES);

/** The stored events with a position that match a filter. */
export const matching = (scope: Scope, filter: EventFilter, isIndexed: boolean): RowsOf<"events"> =>
  between(scope, ofAnyTime(scope, filter), filter, isIndexed);

function ofAnyTime(scope: Scope, { name, chatId, assistantId }: EventFilter): RowsOf<"events"> {
  const rows = scope.table("events").whereNotNull("transaction");
  if (name != null) rows.where({ name });
  if (chatId != null) rows.where({ chatId });
  if (assistantId != null) rows.where({ assistantId });
  return rows;
}

/** Narrows events to those between two times. */
function between(
  scope: Scope,
  rows: RowsOf<"events">,
  { createdAfter, createdBefore }: EventFilter,
  isIndexed: boolean,
): RowsOf<"events"> {
  if (!isIndexed) {
    if (createdAfter != null) rows.where("createdAt", ">", createdAfter);
    if (createdBefore != null) rows.where("createdAt", "<", createdBefore);
    return rows;
  }
  // Events of all assistants, whatever the credential may see: none is shown.
  const near = () => scope.unlimited().table("events").whereNotNull("transaction");
  if (createdAfter != null) {
    boundByTime("from", rows, near(), POSITION, createdAfter);
    rows.whereRaw(`${CREATED_AT} > ?`, [createdAfter]);
  }
  if (createdBefore != null) {
    boundByTime("to", rows, near(), POSITION, createdBefore);
    rows.whereRaw(`${CREATED_AT} < ?`, [createdBefore]);
  }
  return rows;
}

/** A filter with the part of its list to read. */
interface Wanted {
  readonly filter: EventFilter;
  /** Names that events may have; undefined: any. */
  readonly names: readonly EventName[] | undefined;
  readonly span: Span;
}

/** The place of an event; if it has been deleted, that in the cursor or, for an id alone, after the event before it. */
function placeOf(scope: Scope, cursor: string): Place {
  const id = idIn(cursor);
  const events = scope.unlimited().table("events").whereNotNull("transaction").select("transaction");
  const position = placeIn("tx", cursor);
  if (position !== undefined)
    return { sql: `${valueOr("?::xid8")}, ?`, values: [events.where({ id }), position, id] };
  const nearest = events.where("id", "<=", id).orderBy("id", "desc").limit(1);
  return { sql: `${valueOr("'0'::xid8")}, ?`, values: [nearest, id] };
}

/**
 * The events of a span of a filtered list, by position. Indexes have the events of a name, and of an assistant and a name, in
 * this order: the first ones of each are read, and the first of all are among them.
 */
export function firstMatching(
  scope: Scope,
  { filter, names, span }: Wanted,
  isIndexed: boolean,
): RowsOf<"events"> {
  const some = names && EVENT_NAMES.some((name) => !names.includes(name)) ? names : undefined;
  const assistants = filter.assistantId == null ? scope.assistantIds : [filter.assistantId];
  const isWhole = some === undefined && assistants === undefined;
  const isDirect = isWhole || filter.chatId != null || !isIndexed;
  // If PostgreSQL knew that an assistant has most events, it would look for them among all, of which others may come first.
  const own = isDirect ? filter : { ...filter, assistantId: null };
  const within = spanned(ofAnyTime(scope, own), span, BY_POSITION, (cursor) => placeOf(scope, cursor));
  // After the bound of a cursor: PostgreSQL 18 begins to read an index at the first bound.
  const rows = between(scope, within, filter, isIndexed);
  if (isDirect) return some ? rows.whereIn("name", [...some]) : rows;

  rows.whereRaw("name = wanted.name").select("transaction", "id");
  if (assistants) rows.whereRaw("assistant_id = assistant.id");
  const { take, order } = span;
  const found = scope.table("events").whereRaw(
    `id = any(array(select first.id from unnest(?::text[]) as wanted (name) cross join unnest(?::text[]) as assistant (id)
       cross join lateral (?) as first order by first.transaction ${order}, first.id ${order} limit ?))`,
    [[...(some ?? EVENT_NAMES)], assistants ? [...assistants] : [""], rows, take + 1],
  );
  return found.orderBy(BY_POSITION.map((column) => ({ column, order })));
}
