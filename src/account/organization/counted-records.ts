import type { Knex } from "knex";
import { statement, type Pieces } from "../../platform/database/statement";

/** Counts records up to a number, which is its parameter. */
const counted = (recordsOf: (pieces: Pieces) => Knex.QueryBuilder) =>
  statement<{ count: string }>((pieces) => {
    const { $, db } = pieces;
    const rows = recordsOf(pieces).select(db.raw("1 as one"));
    return db.raw("select count(*) from (? limit ?) as counted", [rows, $(1)]);
  });

/** Records with a limit. `counted` counts them up to a number, with a partial index of these records. */
export const COUNTED_RECORDS = {
  assistants: {
    noun: "assistants",
    setting: "QUOTA_ASSISTANTS",
    remedy: "Delete some",
    counted: counted(({ table }) => table("assistants").whereNull("deletedAt")),
  },
  liveChats: {
    noun: "live chats and calls",
    setting: "QUOTA_LIVE_CHATS",
    remedy: "End some",
    // A literal, because the planner matches this text with the partial index.
    counted: counted(({ table }) => table("chats").whereRaw("status <> 'ended'")),
  },
} as const;
