import type { TestDatabase } from "./database";
import { unchecked, withoutIndexes } from "./plans";
import type { World } from "./world";

/** Logs of one large assistant, and of each of the small ones beside it. */
const LARGE = 180_000;
const SMALL = 100;
const SMALL_ASSISTANTS = 200;
const LOGS = LARGE + SMALL * SMALL_ASSISTANTS;
/** Every tenth log has a person, of so many; and the other columns of which few logs have a value. */
const SHARE = 10;
const PEOPLE = 2_000;
/** Rows of tables that grow with the number of people, texts, calls, files or versions. */
const MANY = 10_000;
/** Rows of each table in other organizations, and the number of these. */
const OTHERS = 3_000;
const OTHER_ORGANIZATIONS = 100;

/** SQL of columns whose values differ from those of the row that is copied; `n` is the number of the copy. */
type Values = Readonly<Record<string, string>>;

interface Table {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly needed: boolean;
    readonly unique: boolean;
  }[];
}

const TABLES = `
  select c.relname as name, json_agg(json_build_object('name', attname, 'type', format_type(atttypid, null),
    'needed', attnotnull and not atthasdef, 'unique', exists (
      select from pg_index where indrelid = c.oid and indisunique and attnum = any(indkey))) order by attnum) as columns
  from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') group by 1 order by 1`;

/** A value of a type, for the rows of tables that are empty. */
const SAMPLES: Readonly<Record<string, string>> = {
  text: "'sample'",
  integer: "1",
  bigint: "1",
  boolean: "false",
  "timestamp with time zone": "now()",
  jsonb: "'{}'::jsonb",
  json: "'{}'::json",
  "integer[]": "array_fill(0, array[13])",
};
/** Values of columns that take one of few. */
const CHOICES: Readonly<Record<string, string>> = {
  unit: "'day'",
  channel: "'TEXT'",
  kind: "'LOGS'",
  status: "'DONE'",
};
/** Columns of keys with one of few values. */
const KINDS = /^(channel|unit|kind|provider|model|type)$/;
const DATED = /^timestamp/;

const log = "'log-' || lpad(n::text, 6, '0')";
const ago = "now() - n * interval '1 minute'";
const few = (value: string) => `case when n % ${SHARE} = 0 then ${value} end`;
const person = (kind: string) => few(`'${kind}-' || n / ${SHARE} % ${PEOPLE}`);

/** Tables of which organizations have many rows, with the number of rows and what differs between them. */
const GROWING = ({
  assistantId,
  destinationId,
  connectionId,
  fileId,
}: World): Readonly<Record<string, readonly [number, Values]>> => {
  const owner = `case when n <= ${LARGE} then '${assistantId}' else 'small-' || n % ${SMALL_ASSISTANTS} end`;
  /** The id of the n-th call: every fourth log is one. */
  const call = "'log-' || lpad((4 * n - 1)::text, 6, '0')";
  return {
    chats: [
      LOGS,
      {
        id: log,
        assistant_id: owner,
        channel: "(array['TEXT', 'TEXT', 'SMS', 'VOICE'])[1 + n % 4]",
        status: "'ended'",
        started_at: ago,
        last_message_at: ago,
        ended_at: ago,
        quiet_from: ago,
        first_words: "null",
        metadata: "'{}'",
        recording_url: "case when n % 4 = 3 then 'https://r.example/' || n end",
        user_id: person("user"),
        external_id: person("external"),
        anonymous_id: person("anonymous"),
        unique_id: person("person"),
        phone_number: person("+4144"),
        visitor_id: person("visitor"),
        workflow_id: person("workflow"),
        deployment_id: person("deployment"),
        assistant_version: `1 + n * 10 / ${LOGS}`,
        counted: "true",
        message_count: "1",
        event_count: "1",
      },
    ],
    messages: [
      LOGS,
      {
        id: log,
        chat_id: log,
        assistant_id: owner,
        sequence: "1",
        client_id: "null",
        created_at: ago,
        content: "case when n % 10000 = 7 then 'zugzwang' else 'where is the parcel' end",
      },
    ],
    events: [
      LOGS,
      {
        id: log,
        chat_id: log,
        assistant_id: owner,
        chat_sequence: "1",
        transaction: `(3 + ${LOGS} - n)::text::xid8`,
        created_at: ago,
        name: "(array['session-start', 'session-end', 'conversation-updated', 'status-changed'])[1 + n % 4]",
        body: "'{}'",
        recipe: "null",
        digest: "null",
      },
    ],
    deliveries: [
      LOGS,
      {
        id: log,
        event_id: log,
        chat_id: log,
        chat_sequence: "1",
        destination_id: `'${destinationId}'`,
        created_at: ago,
        status: "case when n % 5000 = 7 then 'FAILED' else 'DELIVERED' end",
        claimed_until: "null",
        next_attempt_at: "now()",
      },
    ],
    audit_events: [
      6 * MANY,
      {
        position: `(select position - ${6 * MANY} + n from audit_heads h where h.organization_id = s.organization_id)`,
        id: "'entry-' || n",
        kind: "'CHANGE'",
        actor: "'SECRET'",
        key_id: "'key'",
        person: `case when n % 3 = 0 then 'someone' end`,
        address: "'203.0.113.1'",
        operation: "'postMessage'",
        record_type: "'Chat'",
        record_id: log,
        fields: "'[]'",
        created_at: `now() - (${6 * MANY} - n) * interval '1 minute'`,
      },
    ],
    assistant_versions: [
      MANY,
      { assistant_id: `'${assistantId}'`, number: "100 + n", created_at: ago, content: "'{}'" },
    ],
    version_texts: [MANY, { assistant_id: `'${assistantId}'` }],
    end_users: [
      3 * MANY,
      { assistant_id: `'${assistantId}'`, unique_id: "'person-' || n", facts: "'[]'", created_at: ago },
    ],
    calls: [
      2 * MANY,
      {
        chat_id: call,
        created_at: "now() - (4 * n - 1) * interval '1 minute'",
        dialing_since: "null",
        engine_call_id: "null",
        line: few("'line'"),
      },
    ],
    call_lookup: [2 * MANY, { chat_id: call }],
    engine_callbacks: [2 * MANY, { chat_id: call, created_at: ago }],
    conversation_facts_summed: [
      LOGS,
      {
        chat_id: log,
        assistant_id: owner,
        channel: "'TEXT'",
        started_at: ago,
        answer_times: "array_fill(0, array[13])",
        not_known: "case when n % 500 = 0 then 1 else 0 end",
        errors: "0",
        no_answer: "0",
      },
    ],
    function_facts_summed: [
      LOGS,
      { chat_id: log, name: "'book'", assistant_id: owner, channel: "'TEXT'", started_at: ago },
    ],
    sms_threads: [
      MANY,
      {
        chat_id: "'log-' || lpad((4 * n - 2)::text, 6, '0')",
        connection_id: `'${connectionId}'`,
        phone_number: "'+4178' || n",
      },
    ],
    sms_received: [
      2 * MANY,
      {
        connection_id: `'${connectionId}'`,
        chat_id: "'log-' || lpad((4 * n - 2)::text, 6, '0')",
        outcome: "'chat'",
        answer: "'{}'",
        sms: "jsonb_build_object('from', '+4178' || n)",
        created_at: ago,
      },
    ],
    sms_sent: [
      2 * MANY,
      {
        connection_id: `'${connectionId}'`,
        chat_id: "'log-' || lpad((4 * n - 2)::text, 6, '0')",
        via: "'API'",
        sent_at: ago,
        created_at: ago,
        message_sid: "'SM' || n",
        message_id: "'message-' || n",
      },
    ],
    sms_contacts: [MANY, { own_number: "'+41445550100'", phone_number: "'+4178' || n" }],
    files: [
      MANY,
      {
        id: "'file-' || n",
        created_at: ago,
        metadata: "jsonb_build_object('uniqueId', 'person-' || n, 'chatId', 'log-' || n)",
      },
    ],
    passages: [
      2 * MANY,
      {
        id: "'passage-' || n",
        file_id: `case when n % 100 = 0 then '${fileId}' else 'file-' || n / 10 end`,
        ordinal: "n",
        assistant_id: "null",
        content: "'opening hours'",
        terms: "to_tsvector('simple', 'opening hours')",
      },
    ],
    erasures: [
      MANY,
      { id: "'erasure-' || n", status: "'DONE'", requested_at: ago, worked_at: ago, finished_at: ago },
    ],
    end_user_exports: [
      MANY,
      { id: "'export-' || n", status: "'EXPIRED'", requested_at: ago, archive_id: "null" },
    ],
    idempotency_keys: [2 * MANY, { created_at: "now() - n * interval '4 seconds'" }],
  };
};

/** Values of rows of other organizations with which no job has work. */
const OF_OTHERS: Readonly<Record<string, Values>> = {
  chats: { status: "'ended'", ended_at: "now()", counted: "true" },
  events: { transaction: "'3'" },
  deliveries: { status: "'DELIVERED'" },
  delivery_queues: { destination_id: "'destination'", due_at: "now() + interval '1 day'" },
  erasures: { status: "'DONE'" },
  end_user_exports: { status: "'EXPIRED'", archive_id: "null" },
  passages: { assistant_id: "null", file_id: "'file'" },
  provider_erasures: { kind: "'TEXTS'" },
  sms_sent: { via: "'API'" },
  stored_sizes: { measured_at: "now()", walk: "null" },
};

/** Tables with a row for an installation, or whose rows are jobs for other organizations. */
const ALONE =
  /^(knex_|begun_jobs|file_store|holds|job_deaths|online_steps|organizations|sole_jobs|templates|worker_heartbeats|audit_outbox|write_positions|conversation_facts_kept|function_facts_kept|live_facts|log_changes|log_blocks|delivery_sum_gaps)/;

/** Tables with few rows for each organization. */
const ONE_EACH = /^(model_|retentions)/;

/** Copies a row of a table many times: the first that the organization has, or a new one. */
async function multiply(
  { query }: TestDatabase,
  { name, columns }: Table,
  count: number,
  own: string,
  values: Values,
): Promise<void> {
  const wrong = Object.keys(values).filter((key) => !columns.some(({ name }) => name === key));
  if (wrong.length > 0) throw new Error(`${name} has no column ${wrong.join(", ")}`);
  const [found] = await query(`select from ${name} where organization_id = '${own}' limit 1`);
  const valueOf = ({ name, type, needed, unique }: Table["columns"][number]) => {
    if (values[name] !== undefined) return values[name];
    const source = found
      ? `s."${name}"`
      : ((type === "text" ? CHOICES[name] : undefined) ?? SAMPLES[type] ?? "null");
    if (name === "organization_id") return found ? source : `'${own}'`;
    if (unique && !KINDS.test(name)) {
      if (type === "text")
        return `${found ? `coalesce(${source}, '')` : "'sample'"} || '-${values.organization_id === undefined ? "own" : "other"}-' || n`;
      if (["integer", "bigint"].includes(type)) return `${source} + 100000 + n`;
      if (DATED.test(type)) return `${source} - n * interval '1 hour'`;
    }
    return found ? source : needed ? source : undefined;
  };
  const written = columns.flatMap((column) => {
    const value = valueOf(column);
    return value === undefined ? [] : [[`"${column.name}"`, value] as const];
  });
  const source = found ? `(select * from ${name} where organization_id = '${own}' limit 1) s, ` : "";
  await query(
    unchecked(`insert into ${name} (${written.map(([column]) => column).join(", ")}) select ${written.map(([, value]) => value).join(", ")}
     from ${source}generate_series(1, ${count}) n`),
  );
}

/** Logs of a block, by which far pages are found. */
const BLOCK = 3_500;

/** Counts the logs in blocks, as a job does. */
const countBlocks = ({ query }: TestDatabase) =>
  query(
    unchecked(`delete from log_blocks; delete from log_changes;
   insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id, logs)
   select organization_id, assistant_id, list, case when block = 0 then '-infinity' else min(started_at) end,
     case when block = 0 then '' else (array_agg(id order by started_at))[1] end, count(*)
   from (select c.*, list, (row_number() over (partition by organization_id, assistant_id, list order by started_at, id) - 1) / ${BLOCK} as block
     from chats c cross join lateral (values (''), (c.channel)) lists (list)) numbered
   group by organization_id, assistant_id, list, block`),
  );

/** Fills all tables around the records of an organization. */
export async function fillLarge(database: TestDatabase, organizationId: string, world: World): Promise<void> {
  const tables = await database.query<Table & { [key: string]: unknown }>(TABLES);
  const growing = GROWING(world);
  await database.query("update audit_heads set position = position + $1 where organization_id = $2", [
    6 * MANY,
    organizationId,
  ]);
  await database.query(
    `insert into organizations (id, name) select 'other-' || n, 'Another' from generate_series(0, ${OTHER_ORGANIZATIONS - 1}) n`,
  );
  for (const table of tables) {
    if (ALONE.test(table.name)) continue;
    const varies = table.columns.some(
      ({ name, unique }) => unique && name !== "organization_id" && !KINDS.test(name),
    );
    const isShort = !varies || ONE_EACH.test(table.name);
    const other = isShort ? "'other-' || n - 1" : `'other-' || n % ${OTHER_ORGANIZATIONS}`;
    await multiply(database, table, isShort ? OTHER_ORGANIZATIONS : OTHERS, organizationId, {
      ...OF_OTHERS[table.name],
      organization_id: other,
    });
    const [count, values] = growing[table.name] ?? [0, {}];
    if (count > 0)
      await withoutIndexes(database, [table.name], () =>
        multiply(database, table, count, organizationId, values),
      );
  }
  await database.query(
    `update ledger_heads set position = greatest(position, ${LOGS + 10}) where organization_id = '${organizationId}'`,
  );
  await countBlocks(database);
  await database.query(
    `insert into delivery_sum_heads (organization_id, until) values ('${organizationId}', date_bin('15 minutes', now() - interval '1 hour', '2020-01-01Z'))
     on conflict (organization_id) do update set until = excluded.until`,
  );
  for (const { name } of tables) await database.query(`vacuum analyze ${name}`);
}
