import type { Config } from "../../settings/config";
import { describeDatabase } from "./database-name";
import type { Hold } from "./holds";
import { openClient } from "./open-client";

const MOVED = `select note, since from holds
  where reason = 'MOVED' and released_at is null and finished_at is not null order by since limit 1`;

/** @throws Error with the remedy, if the database was moved elsewhere: its rows are out of date */
export async function refuseMoved(url: string, config: Config): Promise<void> {
  const client = await openClient(url, "parley command");
  try {
    const { rows: tables } = await client.query("select where to_regclass('holds') is not null");
    if (tables.length === 0) return; // an older version has never moved it
    const { rows } = await client.query<Pick<Hold, "note" | "since">>(MOVED);
    if (rows.length > 0) throw new Error(messageOf(rows[0]!, config));
  } finally {
    await client.end();
  }
}

const messageOf = ({ note, since }: Pick<Hold, "note" | "since">, config: Config): string =>
  [
    `HELD: the ${describeDatabase(config)} was moved to ${note} at ${since.toISOString()} and is out of date. Nothing was changed.`,
    config.embedded
      ? "DATABASE_URL is not set: run the command with the server's environment, which names the new database."
      : "Set DATABASE_URL to the new database, as in the server's environment.",
    "If you want to use the former database again, run `npm run release` on it first.",
  ].join("\n");
