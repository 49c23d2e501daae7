import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

const TABLES = ["sms_received", "sms_threads"];

/** The values in the metadata of a file by which a person is found. */
const NAMED = `array[${["uniqueId", "userId", "anonymousId", "phoneNumber", "chatId"].map((key) => `left(metadata ->> '${key}', 255)`).join(", ")}]`;

/** Exact, also for longer values than the index contains. */
const NAMES = `(metadata ->> 'uniqueId' = any($2) or metadata ->> 'userId' = any($2) or metadata ->> 'anonymousId' = any($2)
  or metadata ->> 'phoneNumber' = any($2) or metadata ->> 'chatId' = any($3))`;

/** As in `parley_searched_chats`: the operators of JSON may reveal hidden rows, so that the role cannot use their indexes. */
const FINDING = "language plpgsql stable security definer set search_path = pg_catalog, public";

export async function up(db: Knex): Promise<void> {
  // A number is disconnected at once, however many texts it has received; a job removes them afterwards. Texts that a
  // server of an older version leaves behind are not shown. They expire, and go with their chats.
  for (const table of TABLES) await db.raw(`alter table ${table} drop constraint ${keyOf(table)}`);
  await db.raw(`
    create function parley_files_naming(names text[], chats text[], beginnings text[]) returns setof text ${FINDING} as $$
    begin
      if not has_table_privilege(session_user, 'public.files', 'select') then return; end if;
      return query execute 'select id from public.files where organization_id = $1 and ${NAMED.replaceAll("'", "''")} && $4
        and ${NAMES.replaceAll("'", "''")}' using current_setting('parley.organization_id', true), names, chats, beginnings;
    end $$`);
  await db.raw(`
    create function parley_texts_from(sender text) returns setof text ${FINDING} as $$
    begin
      if not has_table_privilege(session_user, 'public.sms_received', 'select') then return; end if;
      return query execute 'select message_sid from public.sms_received where organization_id = $1 and sms ->> ''from'' = $2'
        using current_setting('parley.organization_id', true), sender;
    end $$`);
}

/** Indexes are built while servers run. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "files_naming",
    table: "files",
    columns: `using gin (organization_id, (${NAMED}))`,
  },
  {
    kind: "index",
    name: "sms_received_from",
    table: "sms_received",
    columns: "(organization_id, (sms ->> 'from'))",
  },
  {
    kind: "index",
    name: "chats_live_by_status",
    table: "chats",
    columns: "(organization_id, status, started_at, id) where status <> 'ended'",
  },
  {
    kind: "backfill",
    name: "without_chats_live",
    table: "chats",
    batch: async (db) => {
      // Everything that reads chats waits behind this while an older transaction reads them.
      await db.raw(`set local lock_timeout = '2s'`);
      await db.raw(`drop index if exists chats_live`); // `chats_live_by_status` begins with the same column
      return null;
    },
  },
];

export async function down(db: Knex): Promise<void> {
  const indexes = online.flatMap(({ kind, name }) => (kind === "index" ? [name] : []));
  await db.raw(`drop index if exists ${indexes.join(", ")}`);
  await db.raw(`create index if not exists chats_live on chats (organization_id) where status <> 'ended'`);
  await db.raw(`delete from online_steps where name = 'without_chats_live'`);
  await db.raw("drop function parley_files_naming(text[], text[], text[])");
  await db.raw("drop function parley_texts_from(text)");
  for (const table of TABLES) {
    await db.raw(`delete from ${table} t where not exists (select from telephony_connections c
      where c.organization_id = t.organization_id and c.id = t.connection_id)`);
    await db.raw(`alter table ${table} add constraint ${keyOf(table)} foreign key (organization_id, connection_id)
      references telephony_connections (organization_id, id) on delete cascade`);
  }
}

const keyOf = (table: string) => `${table}_organization_id_connection_id_fkey`;
