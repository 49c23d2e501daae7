// Statements and key lookup of the hand-written servers.
import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { FIELDS } from "../dashboard";

export type Row = Record<string, unknown>;

const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const columns = (fields: readonly string[]) =>
  fields.map((field) => (snake(field) === field ? field : `${snake(field)} as "${field}"`)).join(", ");

const ASSISTANT = ["id", "name", "description", "variables", "createdAt", "updatedAt"];
const LIVE = "where organization_id = $1 and deleted_at is null";
const CHAT_COLUMNS = [
  ...["initialMessage", "prompt", "resources", "provider", "model", "temperature", "maxTokensOutput"],
  ...["functions", "isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult", "chatMode"],
];
const LOG = `id, channel as type, coalesce(label, phone_number, first_words) as label, started_at as "createdAt"`;

/** Named, so that PostgreSQL prepares each once per connection. */
export const STATEMENTS = {
  key: "select organization_id from bench_keys where digest = $1",
  one: `select ${columns(ASSISTANT)} from assistants ${LIVE} and id = $2`,
  page: `select ${columns(ASSISTANT)} from assistants ${LIVE} order by created_at desc, id desc limit $2 offset $3`,
  count: `select count(*)::int from assistants ${LIVE}`,
  logs: `select wanted.id as "assistantId", log.* from unnest($2::text[]) as wanted(id) cross join lateral
    (select ${LOG} from chats where organization_id = $1 and assistant_id = wanted.id
     order by started_at desc, id desc limit 5) as log`,
  search: `select ${LOG} from chats where organization_id = $1 and assistant_id = $2
    and (coalesce(label, phone_number, first_words) ilike $3 or exists (select from messages
      where organization_id = $1 and chat_id = chats.id and content ilike $3))
    order by started_at desc, id desc limit 20`,
  create: `insert into assistants (organization_id, id, name, description, variables)
    values ($1, $2, $3, $4, $5) returning ${columns(ASSISTANT)}`,
  audit: "insert into bench_audit (organization_id, id, entry) values ($1, $2, $3)",
  voice: byAssistant("voice"),
  sms: byAssistant("sms"),
  chat: byAssistant("chat"),
  theme: byAssistant("theme"),
  createVoice: configuration("voice"),
  createSms: configuration("sms"),
  createChat: configuration("chat"),
  createTheme: configuration("theme"),
} as const;

function byAssistant(channel: "voice" | "sms" | "chat" | "theme"): string {
  return `select assistant_id as "assistantId", ${columns(FIELDS[channel])} from ${channel}_configurations
    where organization_id = $1 and assistant_id = any($2::text[])`;
}

function configuration(channel: string): string {
  return `insert into ${channel}_configurations (organization_id, assistant_id) values ($1, $2)`;
}

export async function run(
  db: Pool | PoolClient,
  name: keyof typeof STATEMENTS,
  values: unknown[],
): Promise<Row[]> {
  return (await db.query<Row>({ name, text: STATEMENTS[name], values })).rows;
}

/** Changes these fields of a chat configuration. Each set of fields is a statement of its own. */
export async function changeChat(db: PoolClient, organization: string, id: string, changes: Row) {
  const names = Object.keys(changes);
  const sets = names.map((field, index) => `${snake(field)} = $${index + 3}`);
  const text = `update chat_configurations set ${sets.join(", ")}, updated_at = now()
    where organization_id = $1 and assistant_id = $2
      and exists (select from assistants ${LIVE} and id = $2) returning ${columns(CHAT_COLUMNS)}`;
  const name = `chat ${names.join()}`;
  const { rows } = await db.query<Row>({ name, text, values: [organization, id, ...Object.values(changes)] });
  return rows[0];
}

/** Runs work in a transaction. */
export async function transaction<R>(pool: Pool, work: (db: PoolClient) => Promise<R>): Promise<R> {
  const db = await pool.connect();
  try {
    await db.query("begin");
    const result = await work(db);
    await db.query("commit");
    return result;
  } catch (error) {
    await db.query("rollback");
    throw error;
  } finally {
    db.release();
  }
}

const KEY_LIFETIME_MS = 300_000;

/** Finds the organization of a key, and remembers it for a while. */
export function keys(pool: Pool) {
  const known = new Map<string, { readonly organization: string; readonly until: number }>();
  return async (value: string): Promise<string | undefined> => {
    const digest = createHash("sha256").update(value).digest("base64url");
    const cached = known.get(digest);
    if (cached && cached.until > Date.now()) return cached.organization;
    const [row] = await run(pool, "key", [digest]);
    if (!row) return undefined;
    const organization = String(row.organization_id);
    known.set(digest, { organization, until: Date.now() + KEY_LIFETIME_MS });
    return organization;
  };
}

/** The entry that our service records for the same operation. */
export const auditEntry = (operation: string, recordType: string, recordId: string, fields: string[]) =>
  JSON.stringify({
    kind: "CHANGE",
    actor: "SECRET",
    keyId: null,
    person: null,
    address: "127.0.0.1",
    interface: "REST",
    requestId: recordId,
    operation,
    recordType,
    fields: fields.map((name) => ({ name })),
    recordId,
  });
