import type { Knex } from "knex";
import { areStepsDone } from "../../platform/database/done-steps";
import { FilteredStatement } from "../../platform/database/lists/filtered-statement";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { ALL_CHATS, filterOf, type ChatFilter } from "./chat-lists";

/** A filter of a list of chats. */
interface ListFilter {
  readonly assistantId?: string | null;
  readonly channel?: string | null;
  readonly [other: string]: unknown;
}

/** The online step after which each chat is in a block or in a change. */
const STEP = "log_blocks";
/** With more changes, as after a restore, adding them up would take longer than counting. */
const MOST_CHANGES = 20_000;

/** The counts of blocks, and the changes that are not in them yet, in one snapshot. Parameter: channel or null. */
const COUNT = new FilteredStatement<{ readonly count: string | null }, "assistantId">(
  { assistantId: (rows, value) => rows.where("assistantId", value) },
  ({ table, narrowed, db, $ }) => {
    const blocks = narrowed(table("log_blocks").whereRaw("channel = coalesce(?, '')", [$(1)]));
    const changes = narrowed(table("log_changes").whereRaw("channel = coalesce(?, channel)", [$(1)]));
    const query: Knex.Raw = db.raw(
      `select case when counted.are_all and changed.are_all then counted.logs + changed.logs end as count
       from (select coalesce(bool_and(logs is not null), true) as are_all, coalesce(sum(logs), 0) as logs from (?) blocks) counted,
         (select count(*) <= ${MOST_CHANGES} as are_all, coalesce(sum(change), 0) as logs
          from (? limit ${MOST_CHANGES + 1}) changes) changed`,
      [blocks.select("logs"), changes.select("change")],
    );
    return query;
  },
);

/**
 * The number of chats of an organization, of an assistant or of a channel, without reading them.
 * @returns undefined for another filter, and while some chats are not counted yet
 */
export async function countedChats(
  scope: Scope,
  { assistantId, channel, ...others }: ListFilter,
): Promise<number | undefined> {
  if (Object.values(others).some((value) => value != null && value !== "")) return undefined;
  if (!(await areStepsDone(scope, [STEP]))) return undefined;
  const { statement, values } = COUNT.by({ assistantId });
  const [row] = await replicated(scope, (from) => from.readLong(statement, [channel ?? null, ...values]));
  return row?.count == null ? undefined : Number(row.count);
}

/** The number of an organization's chats that match a filter. */
export async function countChats(scope: Scope, filter: ChatFilter): Promise<number> {
  const counted = await countedChats(scope, { ...filter });
  if (counted !== undefined) return counted;
  const { statement, values } = ALL_CHATS.count.by(filterOf(filter));
  const [total] = await replicated(scope, (from) => from.read(statement, values));
  return Number(total?.count);
}
