import { boundsIn, boundsOf } from "../chats/chat-lists";
import type { Conditions } from "../../platform/database/lists/filtered-statement";
import { byAge, inBothOrders, type Order } from "../../platform/database/lists/order";
import type { Rows } from "../../platform/database/tables/rows";

/** Columns of a chat in the logs of an assistant. */
export const LOG_COLUMNS = ["id", "channel", "label", "phoneNumber", "firstWords", "startedAt"] as const;
export type LogRow = Pick<Rows["chats"], (typeof LOG_COLUMNS)[number]>;

/** Columns of a chat in the list of all logs. */
export const ENTRY_COLUMNS = [
  ...LOG_COLUMNS,
  "assistantId",
  "status",
  "endedAt",
  "endedReason",
  "messageCount",
] as const;
export type EntryRow = Pick<Rows["chats"], (typeof ENTRY_COLUMNS)[number]>;

/** Conditions of a list of logs; those without a value are omitted. */
export interface LogConditions {
  readonly assistantId?: string | null;
  readonly type?: string | null;
  readonly assistantVersion?: number | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
  /** Latest start, in the database's own format, which is more exact than a date. */
  readonly until?: string | null;
  /** Cursor of the log after which the list begins. */
  readonly after?: string | null;
  /** Cursor of the log before which the list ends. */
  readonly before?: string | null;
}

export const byStart = (order: Order) => byAge(order, "startedAt");

/** Conditions on rows of `chats`, read in some order. The values of its bounds come from `valuesOf`. */
export const LOG_CONDITIONS: Record<Order, Conditions<keyof LogConditions>> = inBothOrders((order) => ({
  ...boundsIn(order),
  // In a subquery: if PostgreSQL knows that the assistant has most logs, it looks for them among those of all others,
  // which may come first.
  assistantId: (rows, value) => rows.whereRaw("assistant_id = (select ?)", [value]),
  type: (rows, value) => rows.where("channel", value),
  assistantVersion: (rows, value) => rows.where("assistantVersion", value),
  startedAfter: (rows, value) => rows.where("startedAt", ">", value),
  startedBefore: (rows, value) => rows.where("startedAt", "<", value),
  until: (rows, value) => rows.where("startedAt", "<=", value),
}));

/** The conditions as values of their parameters. */
export const valuesOf = ({ after, before, ...others }: LogConditions) => ({
  ...others,
  ...boundsOf({ after, before }),
});
