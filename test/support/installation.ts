import pg from "pg";
import { newAssistant, newChat, quietAssistant, say } from "./factories";
import { upload } from "./files";
import { waitingJobs } from "./jobs";
import { Receiver } from "./receiver";
import { afterTest, emptyFolder, preparedDatabase, SETTINGS, startServer, type Env } from "./server";

/**
 * A running installation in which all outgoing work waits, because its server has no worker.
 * @param url of a database for it, instead of a new one
 */
export async function waitingInstallation(over = afterTest, url?: string) {
  const env: Env = {
    ...SETTINGS,
    WORKER: "off",
    DATA_DIR: emptyFolder(over),
    DATABASE_URL: url ?? (await preparedDatabase(over)),
    OUTBOUND_ALLOW: "127.0.0.0/8",
    SIMULATOR_SPEED: "2000",
  };
  const receiver = await new Receiver().start();
  over(() => receiver.stop());
  const server = await startServer(env, over);
  const { api } = server;
  await api.post("/rest/v1/settings", { url: receiver.url, secret: "a secret" }, 201);
  const assistantId = await quietAssistant(api, { name: "Égal \\ \t \n 'x'" });
  const chatId = await newChat(api, assistantId);
  const messageId = await say(api, chatId, "Is anybody there?", "USER");
  const call = { assistantId: await newAssistant(api), phoneNumber: "+14155550123" };
  const { id: callId } = (await api.post("/rest/v1/call/phone", call, 200)) as { id: string };
  const { id: fileId } = (await upload(api, { content: "what a file holds" })) as { id: string };
  return { env, server, api, receiver, assistantId, chatId, messageId, callId, fileId };
}

/** Settings of an empty installation with the same encryption keys. */
export const elsewhere = (env: Env, url: string): Env => ({
  ...env,
  DATA_DIR: emptyFolder(),
  DATABASE_URL: url,
});

/** Audit entries that a restore or a move adds to the copy. */
const OF_COPY = /""operation"": ""(restore|move)""/;

/** All rows by table, without records that belong to one database, and without templates, which a start updates. */
export async function contentsOf(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const contents: Record<string, string[]> = {};
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname not in ('knex_migrations', 'knex_migrations_lock', 'worker_heartbeats', 'holds', 'sole_jobs', 'templates', 'file_store', 'job_deaths', 'stored_sizes')`,
    );
    for (const { name } of tables) {
      const text = `select t::text as row from public.${name} t order by 1`;
      const { rows } = await client.query<{ row: string }>(text);
      contents[name] = rows.map(({ row }) => row).filter((row) => !OF_COPY.test(row));
    }
    const jobs = await waitingJobs({
      query: async (text, values) => (await client.query(text, values)).rows as never,
    });
    contents["waiting jobs"] = jobs.map(({ task, payload, key, attempts, maxAttempts }) =>
      JSON.stringify([task, payload, key, attempts, maxAttempts]),
    );
  } finally {
    await client.end();
  }
  return contents;
}

/** Whether a database is empty. */
export const isEmpty = async (url: string): Promise<boolean> =>
  (
    await query(
      url,
      `select 1 from pg_class where relnamespace in (select oid from pg_namespace where nspname in ('public', 'graphile_worker'))
       and relkind in ('r', 'v', 'S')`,
    )
  ).length === 0;

export async function query<R extends pg.QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query<R>(text, values).finally(() => client.end())).rows;
}
