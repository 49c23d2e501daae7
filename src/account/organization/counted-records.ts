import { statement } from "../../platform/database/statement";

/** Records with a limit. `counted` counts them up to a number, with a partial index of these records. */
export const COUNTED_RECORDS = {
  assistants: {
    noun: "assistants",
    setting: "QUOTA_ASSISTANTS",
    remedy: "Delete some",
    counted: statement<{ count: string }>(({ table, $, db }) => {
      const rows = table("assistants").select(db.raw("1 as one")).whereNull("deletedAt");
      return db.raw("select count(*) from (? limit ?) as counted", [rows, $(1)]);
    }),
  },
  liveChats: {
    noun: "live chats and calls",
    setting: "QUOTA_LIVE_CHATS",
    remedy: "End some",
    // A literal, because the planner matches this text with the partial index.
    counted: statement<{ count: string }>(({ table, $, db }) => {
      const rows = table("chats").select(db.raw("1 as one")).whereRaw("status <> 'ended'");
      return db.raw("select count(*) from (? limit ?) as counted", [rows, $(1)]);
    }),
  },
} as const;
