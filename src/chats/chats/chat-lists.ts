import type { Knex } from "knex";
import type { Channel } from "../../platform/catalog/load-catalog";
import { FilteredStatement, type Conditions } from "../../platform/database/lists/filtered-statement";
import { valueOr } from "../../platform/database/lists/connection";
import { idIn, timeIn } from "../../platform/database/lists/cursors";
import { BOUNDS, byAge, inBothOrders, type Order } from "../../platform/database/lists/order";
import { countPerId, perId } from "../../platform/database/lists/per-id";
import type { Rows } from "../../platform/database/tables/rows";
import { sqlOf, type Condition } from "../../platform/database/statement";

export interface ChatFilter {
  readonly channel?: Channel | null;
  readonly status?: string | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
}

/** Bounds of a list of chats by their start, for its cursors. */
interface Bounds {
  readonly after?: string | null;
  readonly before?: string | null;
}

/** The value is the id in a cursor, preceded by its time, which is used if the chat has been deleted. */
const boundBy =
  (operator: "<" | ">"): Condition =>
  (rows, cursor, { table, db }) => {
    const [time, id] = [db.raw("(?::text[])[1]", [cursor]), db.raw("(?::text[])[2]", [cursor])];
    const at = table("chats").select("startedAt").where("id", id);
    return rows.whereRaw(`(started_at, id) ${operator} (${valueOr("?::timestamptz")}, ?)`, [at, time, id]);
  };

/**
 * Conditions of the bounds of a list that is read in some order. Their values come from `boundsOf`. They precede conditions on
 * times: of several bounds on one side, PostgreSQL 18 begins to read an index at the first, and passes all entries up to the others.
 */
export const boundsIn = (order: Order): Conditions<keyof Bounds> => ({
  after: boundBy(BOUNDS[order].after),
  before: boundBy(BOUNDS[order].before),
});

/** The values of the conditions of bounds. */
export const boundsOf = ({ after, before }: Bounds) => ({ after: boundOf(after), before: boundOf(before) });

const boundOf = (cursor: string | null | undefined) =>
  cursor == null ? null : [timeIn(cursor), idIn(cursor)];

/** A filter whose status is that of live chats or of ended ones. */
type Filtered = keyof ChatFilter | "liveStatus";

/** Conditions of a list of chats. Their values come from `filterOf`. */
const CONDITIONS: Conditions<Filtered> = {
  channel: (rows, value) => rows.where("channel", value),
  status: (rows, value) => rows.where("status", value),
  // Also as the index has it: a statement that is planned once for all values could not use the index otherwise.
  liveStatus: (rows, value) => rows.where("status", value).whereRaw("status <> 'ended'"),
  startedAfter: (rows, value) => rows.where("startedAt", ">", value),
  startedBefore: (rows, value) => rows.where("startedAt", "<", value),
};

/** The values of the conditions of a filter. */
export const filterOf = ({ status, ...others }: ChatFilter) => ({
  ...others,
  [status === "ended" ? "status" : "liveStatus"]: status,
});

/** The chats of each of several assistants or people, by their start. */
export const chatsBy = (column: "assistantId" | "uniqueId") => ({
  found: inBothOrders((order) =>
    perId<Rows["chats"], Filtered | keyof Bounds>(
      ({ table, db, narrowed }) =>
        narrowed(table("chats").where(column, db.raw("wanted.id"))).orderBy(byAge(order, "startedAt")),
      { conditions: { ...boundsIn(order), ...CONDITIONS } },
    ),
  ),
  count: countPerId(column, ({ table }) => table("chats"), CONDITIONS),
});

/** The chats of an organization, by their start; the first value is their number. */
export const ALL_CHATS = {
  found: inBothOrders(
    (order) =>
      new FilteredStatement<Rows["chats"], Filtered | keyof Bounds>(
        { ...boundsIn(order), ...CONDITIONS },
        ({ table, narrowed, db }) => {
          const sorted = narrowed(table("chats")).orderBy(byAge(order, "startedAt"));
          const query: Knex.Raw = db.raw(`${sqlOf(sorted)} limit $2`);
          return query;
        },
      ),
  ),
  count: new FilteredStatement<{ count: string }, Filtered>(CONDITIONS, ({ table, narrowed }) =>
    narrowed(table("chats")).count("*"),
  ),
};
