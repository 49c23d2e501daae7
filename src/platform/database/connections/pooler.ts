import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import pg from "pg";
import { connect, DIRECT_MARK, SESSION_SETTINGS } from "./connect";
import { explained, openClient } from "./open-client";
import { mistake } from "../../mistake";

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
 * @param prepares whether statements are to be prepared under names
 * @throws Error if the pooler keeps no connection for a transaction, or loses prepared statements, or the role lacks a
 * setting
 */
export async function refuseUnfitPooler(url: string, prepares: boolean): Promise<void> {
  const client = await openClient(url, "parley check");
  try {
    await client.query("begin").catch(refuseStatementMode);
    const { rows } = await client.query<Facts>(FACTS, [Object.keys(SESSION_SETTINGS)]);
    await client.query("commit");
    const problem = lackingSettings(rows[0]!);
    if (problem !== undefined) throw mistake(new Error(problem));
    if (prepares) await refuseForgetful(client, url);
  } finally {
    await client.end();
  }
}

/** SQLSTATE of a prepared statement that the connection does not have, or has from another client. */
const CONFUSED = ["26000", "42P05"];
/** Other servers may use the pooler's connections, so that a single try can miss the confusion. */
const TRIES = 5;

/** Uses a prepared statement of the same name as two clients, which take turns at the connections of the pooler. */
async function refuseForgetful(client: pg.Client, url: string): Promise<void> {
  const other = await openClient(url, "parley check");
  const prepared = { name: `parley-${randomBytes(8).toString("hex")}`, text: "select 1" };
  try {
    for (let tries = 0; tries < TRIES; tries++)
      for (const each of [client, other]) await each.query(prepared);
  } catch (error) {
    throw CONFUSED.includes(String((error as { code?: unknown }).code))
      ? mistake(new Error(FORGETFUL, { cause: error }))
      : error;
  } finally {
    await other.end();
  }
}

const FORGETFUL =
  "The pooler of DATABASE_URL does not keep prepared statements. Set DATABASE_PREPARE=off; or, with PgBouncer 1.21 or later, set max_prepared_statements in pgbouncer.ini and reload PgBouncer.";

function refuseStatementMode(cause: unknown): never {
  throw mistake(
    new Error(
      `The pooler of DATABASE_URL does not accept transactions: ${(cause as Error).message}. Set pool_mode = transaction for this database in pgbouncer.ini, and reload PgBouncer.`,
      { cause },
    ),
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
