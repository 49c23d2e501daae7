import type { Knex } from "knex";

/** Assistants per batch. */
const BATCH_SIZE = 500;

/** Each shard stops after its first assistants, by the index on them; the last one of the batch ends it. */
const NEXT_ASSISTANTS = `
  select c.organization_id, c.assistant_id from chats c
  where (c.organization_id, c.assistant_id) > (?::text, ?::text) group by 1, 2 order by 1, 2 limit ?`;

const STORE_BLOCKS = `
  insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id)
  select distinct c.organization_id, c.assistant_id, list.channel, timestamptz '-infinity', ''
  from chats c cross join lateral unnest(array['', c.channel]) list (channel)
  where (c.organization_id, c.assistant_id) > (?::text, ?::text)
    and (c.organization_id, c.assistant_id) <= (?::text, ?::text)
  on conflict do nothing`;

/**
 * Batches of back-fills that differ if the rows of organizations are distributed, by the name of their step: Citus
 * refuses recursion over organizations.
 */
export const BATCHES: Readonly<Record<string, (db: Knex, cursor: unknown) => Promise<unknown>>> = {
  log_blocks: async (db, cursor) => {
    const after = (cursor as [string, string] | null) ?? ["", ""];
    const { rows } = await db.raw<{ rows: { organization_id: string; assistant_id: string }[] }>(
      NEXT_ASSISTANTS,
      [...after, BATCH_SIZE],
    );
    const last = rows.at(-1);
    if (last === undefined) return null;
    const until = [last.organization_id, last.assistant_id];
    await db.raw(STORE_BLOCKS, [...after, ...until]);
    return rows.length < BATCH_SIZE ? null : until;
  },
};
