import type { Knex } from "knex";
import { inBothOrders, type Order } from "../../platform/database/lists/order";
import { perId } from "../../platform/database/lists/per-id";
import { sqlOf, type Pieces } from "../../platform/database/statement";
import { byStart, LOG_COLUMNS, LOG_CONDITIONS } from "./log-conditions";

/** Pages that begin at this entry or later are far. */
export const FAR_OFFSET = 1_000;

/** Stands for the logs of a block that is not counted yet: no offset is as large. */
const UNKNOWN = 1_000_000_000;
/** With more changes, as after a restore, the list is walked: adding them up would take longer. */
const MOST_CHANGES = 20_000;

/**
 * The last place of the list, in its order, whose distance from the list's beginning is known and not beyond the
 * offset. The counts of blocks and the changes that are not in them yet are read in one snapshot, so that they agree
 * with the list.
 */
const startOf = (order: Order, { table, db, $ }: Pieces): Knex.Raw => {
  const blocks = table("log_blocks")
    .whereRaw("assistant_id = wanted.id and channel = coalesce(?, '')", [$(3)])
    .select("fromAt as at", "fromId as id", db.raw("true as is_block"))
    .select(db.raw(`coalesce(logs, ${UNKNOWN}) as logs`));
  const changed = table("log_changes").whereRaw(
    "assistant_id = wanted.id and channel = coalesce(?, channel)",
    [$(3)],
  );
  const changes = changed
    .clone()
    .select("startedAt as at", "chatId as id", db.raw("false as is_block"), "change as logs");
  const beginning = `${order === "desc" ? "'infinity'" : "'-infinity'"}::timestamptz`;
  // A block contains its first log. In ascending order, those before it precede the block.
  const preceding = order === "asc" ? "groups between unbounded preceding and 1 preceding" : "";
  return db.raw(
    `select at, id, preceding from (
       select at, id, is_block, coalesce(sum(logs) over (order by at ${order}, id ${order} ${preceding}), 0) as preceding
       from (? union all (? limit ${MOST_CHANGES})
         union all select ${beginning}, '', false, ${UNKNOWN} from (? offset ${MOST_CHANGES} limit 1) further) counts
     ) places where is_block and preceding <= ?::bigint
     union all select ${beginning}, '', 0
     order by preceding desc limit 1`,
    [blocks, changes, changed.select(db.raw("1")), $(2)],
  );
};

/**
 * The logs of assistants on a far page: an index is walked from the last counted place on, and only the rows of the
 * page are read. Parameters: limit, offset, channel.
 */
export const FAR_LISTS = inBothOrders((order) =>
  perId(
    (pieces) => {
      const { table, narrowed, db, $ } = pieces;
      const walked = narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
        .whereRaw(`(started_at, id) ${order === "desc" ? "<" : ">="} (start.at, start.id)`)
        .select("id")
        .orderBy(byStart(order));
      const ids: Knex.Raw = db.raw(
        `select walked.id from (?) start cross join lateral (${sqlOf(walked)} limit ? offset ?::bigint - start.preceding) walked`,
        [startOf(order, pieces), $(1), $(2)],
      );
      return table("chats")
        .select(...LOG_COLUMNS)
        .whereRaw("id = any(array(?))", [ids])
        .orderBy(byStart(order));
    },
    { conditions: { type: LOG_CONDITIONS[order].type } },
  ),
);

/** Like `FAR_LISTS`, from a given log on or of one version, which blocks do not count. Parameters: limit, offset. */
export const FAR_LISTS_WALKED = inBothOrders((order) => {
  const { type, assistantVersion, after } = LOG_CONDITIONS[order];
  return perId(
    ({ table, narrowed, $ }) => {
      const walked = narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
        .select("id")
        .orderBy(byStart(order));
      return table("chats")
        .select(...LOG_COLUMNS)
        .whereRaw("id = any(array(? limit ? offset ?))", [walked, $(1), $(2)])
        .orderBy(byStart(order));
    },
    { conditions: { type, assistantVersion, after } },
  );
});
