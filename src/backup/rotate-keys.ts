import type pg from "pg";
import { commandOf } from "../account/audit/note";
import type { Crypto } from "../platform/crypto";
import type { AuditedOperation } from "../platform/database/audited-operation";
import { openClient } from "../platform/database/open-client";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed-columns";

/** Rows re-encrypted in one transaction. */
const BATCH_SIZE = 200;

/** Called after each batch. */
export type Progress = (column: string, done: number) => void;

type Row = Readonly<Record<string, string>>;

/**
 * Re-encrypts every stored secret with the first key and updates the keyed digests, while the service runs. Rows that
 * already use the key are skipped, so an interrupted run can be repeated.
 * @param url database URL of the tables' owner
 * @returns the number of re-encrypted secrets
 */
export async function rotateKeys(url: string, crypto: Crypto, progress: Progress): Promise<number> {
  const client = await openClient(url, "parley keys");
  try {
    await refuseServersWithoutKey(client, crypto.ids[0]!);
    let done = 0;
    for (const column of SEALED_COLUMNS)
      for (let some = -1; some !== 0; done += some) {
        some = await rotateSome(client, crypto, column);
        if (some > 0) progress(`${column.table}.${column.column}`, some);
      }
    return done;
  } finally {
    await client.end();
  }
}

/**
 * Refuses to run while a server lacks the key. Servers list their keys in the application name of the connection that
 * they listen on.
 */
async function refuseServersWithoutKey(client: pg.Client, id: string): Promise<void> {
  const { rows } = await client.query<{ pid: number; address: string | null }>(
    `select pid, host(client_addr) as address from pg_stat_activity
     where datname = current_database() and application_name like 'parley listener%'
       and $1 <> all (string_to_array(substr(application_name, 17), ','))`,
    [id],
  );
  if (rows.length > 0)
    throw new Error(
      `A server${rows[0]!.address === null ? "" : ` at ${rows[0]!.address}`} was started without the new key and could not read secrets encrypted with it. Restart every server first, so that it has the new key and the old one: from ENCRYPTION_KEYS=new,old, or with the embedded database from the file encryption-keys in DATA_DIR. Nothing was changed.`,
    );
}

async function rotateSome(client: pg.Client, crypto: Crypto, column: SealedColumn): Promise<number> {
  const named = [...column.context.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const organization = column.table === "organizations" ? "id" : "organization_id";
  const columns = [...new Set([...column.key, ...named])];
  await client.query("begin");
  try {
    const { rows } = await client.query<Row>(
      `select ${organization} as organization_id, ${[...columns, column.column].join(", ")} from public.${column.table}
       where split_part(${column.column}, '.', 1) <> $1 limit ${BATCH_SIZE} for update`,
      [crypto.ids[0]],
    );
    for (const row of rows) {
      const context = `${row.organization_id}/${column.context.replace(/\{(\w+)\}/g, (_, name: string) => row[name]!)}`;
      const plain = open(crypto, column, row, context);
      const where = [organization, ...column.key]
        .map((name, index) => `${name} = $${index + 2}`)
        .join(" and ");
      const key = [row.organization_id, ...column.key.map((name) => row[name])];
      await client.query(`update public.${column.table} set ${column.column} = $1 where ${where}`, [
        crypto.seal(plain, context),
        ...key,
      ]);
      await updateLookup(client, crypto, column, plain, key);
    }
    await record(client, column, rows);
    await client.query("commit");
    return rows.length;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Records in each organization's audit log how many of its secrets this transaction re-encrypted. */
async function record(
  client: pg.Client,
  { table, column }: SealedColumn,
  rows: readonly Row[],
): Promise<void> {
  const operations = new Map<string, AuditedOperation>();
  for (const { organization_id: id } of rows) {
    const operation = operations.get(id!) ?? commandOf("keys:rotate", "Installation");
    operation.about(null);
    operation.count({ [`${table}.${column}`]: 1 });
    operations.set(id!, operation);
  }
  for (const [organization, operation] of operations) {
    const { id, entry } = operation.entry!; // set by `about`
    await client.query("insert into public.audit_outbox (organization_id, id, entry) values ($1, $2, $3)", [
      organization,
      id,
      entry,
    ]);
  }
}

function open(crypto: Crypto, { table, column }: SealedColumn, row: Row, context: string): string {
  try {
    return crypto.open(row[column]!, context);
  } catch (error) {
    throw new Error(`${table}.${column} of ${context} cannot be read: ${(error as Error).message}`);
  }
}

/** Replaces the digest that a credential is found by, which was computed with the previous key. */
async function updateLookup(
  client: pg.Client,
  crypto: Crypto,
  { found }: SealedColumn,
  plain: string,
  key: readonly unknown[],
): Promise<void> {
  if (!found) return;
  const digests = crypto.lookups(plain).map((digest) => found.prefix + digest);
  await client.query(
    `update public.${found.table} set lookup = $1 where organization_id = $2 and ${found.by} = $3 and lookup = any($4)`,
    [digests[0], ...key, digests],
  );
}
