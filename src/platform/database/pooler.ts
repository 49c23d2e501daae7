import type { Knex } from "knex";
import pg from "pg";
import { connect, DIRECT_MARK, SESSION_SETTINGS } from "./connect";
import { explained, openClient } from "./open-client";

/**
 * Checks that a pool of `connect` has direct connections. A lock taken through a pooler would stay with one of its
 * connections, and every later start would wait for it.
 * @throws Error if the URL leads to a pooler
 */
export async function refusePooler(db: Knex): Promise<void> {
  const { rows } = await db.raw<{ rows: { mark: string | null }[] }>(
    "select current_setting(?, true) as mark",
    [DIRECT_MARK],
  );
  if (rows[0]!.mark !== "on") throw new Error("A pooler ignores the settings of a connection.");
}

/** @throws Error with the setting to correct, if a URL leads to a pooler or to no database */
export async function requireDirect(url: string): Promise<void> {
  await openClient(url, "parley check").then((client) => client.end()); // knows more problems than a pool
  const db = connect(url, { pool: 1 });
  try {
    await refusePooler(db);
  } catch (error) {
    throw explained(error, url);
  } finally {
    await db.destroy();
  }
}

/** The role, its database, and what is set for its transactions. */
const FACTS = `
  select current_user as role, current_database() as database,
    (select json_object_agg(lower(name), setting) from pg_settings where lower(name) = any($1)) as settings`;

interface Facts {
  readonly role: string;
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Checks the pooler that a URL leads to. It passes no settings of a connection on, so the role must have them.
 * @throws Error if the pooler keeps no connection for a transaction, or the role lacks a setting
 */
export async function refuseUnfitPooler(url: string): Promise<void> {
  const client = await openClient(url, "parley check");
  try {
    await client.query("begin").catch(refuseStatementMode);
    const { rows } = await client.query<Facts>(FACTS, [Object.keys(SESSION_SETTINGS)]);
    await client.query("commit");
    const problem = lackingSettings(rows[0]!);
    if (problem !== undefined) throw new Error(problem);
  } finally {
    await client.end();
  }
}

function refuseStatementMode(cause: unknown): never {
  throw new Error(
    `The pooler of DATABASE_URL does not accept transactions: ${(cause as Error).message}. Set pool_mode = transaction for this database in pgbouncer.ini, and reload PgBouncer.`,
    { cause },
  );
}

function lackingSettings({ role, database, settings }: Facts): string | undefined {
  const lacking = Object.entries(SESSION_SETTINGS).filter(([name, value]) => settings[name] !== value);
  if (lacking.length === 0) return undefined;
  const statements = roleSettings(role, database);
  return [
    `The role "${role}" of DATABASE_URL lacks settings that no connection through a pooler can have of its own. Run this as a superuser or as the role itself, then RECONNECT in the console of PgBouncer:`,
    ...lacking.map(([name]) => `  ${statements[name as keyof typeof SESSION_SETTINGS]};`),
  ].join("\n");
}

/** Statements that give a role, in a database, what it needs behind a pooler; by setting. */
export function roleSettings(role: string, database: string): Record<keyof typeof SESSION_SETTINGS, string> {
  const place = `alter role ${pg.escapeIdentifier(role)} in database ${pg.escapeIdentifier(database)}`;
  const statements = Object.entries(SESSION_SETTINGS).map(
    ([name, value]) => [name, `${place} set ${name} = '${value}'`] as const,
  );
  return Object.fromEntries(statements) as Record<keyof typeof SESSION_SETTINGS, string>;
}
