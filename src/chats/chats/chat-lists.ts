import type { Knex } from "knex";
import type { Channel } from "../../platform/catalog/load-catalog";
import { FilteredStatement, type Conditions } from "../../platform/database/filtered-statement";
import { byAge, timeOf } from "../../platform/database/order";
import { perId } from "../../platform/database/per-id";
import type { Rows } from "../../platform/database/rows";
import { sqlOf } from "../../platform/database/statement";

export interface ChatFilter {
  readonly channel?: Channel | null;
  readonly status?: string | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
}

/** Conditions of a list of chats. */
const CONDITIONS: Conditions<keyof ChatFilter | "after"> = {
  channel: (rows, value) => rows.where("channel", value),
  status: (rows, value) => rows.where("status", value),
  startedAfter: (rows, value) => rows.where("startedAt", ">", value),
  startedBefore: (rows, value) => rows.where("startedAt", "<", value),
  /** The value is the cursor's id, preceded by the time in it, which is used if the chat has been deleted. */
  after: (rows, cursor, { table, db }) => {
    const [time, id] = [db.raw("(?::text[])[1]", [cursor]), db.raw("(?::text[])[2]", [cursor])];
    const last = table("chats").select("startedAt").where("id", id);
    return rows.whereRaw("(started_at, id) < (coalesce((?), ?::timestamptz), ?)", [last, time, id]);
  },
};

/** The value of the condition `after`. */
export const afterOf = (cursor: string | null | undefined) =>
  cursor == null ? null : [timeOf(cursor), cursor];

/** The chats of each of several assistants or people, newest first. */
export const chatsBy = (column: "assistantId" | "uniqueId") =>
  perId<Rows["chats"], keyof typeof CONDITIONS>(
    ({ table, db, narrowed }) =>
      narrowed(table("chats").where(column, db.raw("wanted.id"))).orderBy(byAge("desc", "startedAt")),
    { conditions: CONDITIONS },
  );

/** The chats of an organization, newest first; the first value is their number. */
export const allChats = () =>
  new FilteredStatement<Rows["chats"], keyof typeof CONDITIONS>(CONDITIONS, ({ table, narrowed, db }) => {
    const sorted = narrowed(table("chats")).orderBy(byAge("desc", "startedAt"));
    const query: Knex.Raw = db.raw(`${sqlOf(sorted)} limit $2`);
    return query;
  });
