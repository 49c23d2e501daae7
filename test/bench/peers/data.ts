import { createHash } from "node:crypto";
import type { Client } from "pg";

/** Size of the data of the comparison with other servers. */
export interface Size {
  readonly organizations: number;
  /** Assistants of each organization. */
  readonly assistants: number;
  /** Logs of each assistant. */
  readonly logs: number;
  /** More logs of the first assistant. */
  readonly largest: number;
}

/** 10 organizations, 10,000 assistants, 1,000,000 logs with 100,000 on one assistant. */
export const FULL: Size = { organizations: 10, assistants: 1_000, logs: 90, largest: 100_000 };

const MESSAGES = 4;
const PROMPT = "You are a receptionist, who takes the calls of a dental practice. Be brief and kind. ".repeat(
  12,
);
const WORDS = `array['the','delivery','of','your','order','is','late','and','we','are','sorry','please','call','again','tomorrow',
  'morning','invoice','number','street','address','refund','account','password','help','thank','you','parcel','driver','window','name']`;

/** Fills the database of a service that has just started. @returns ids of assistants of the default organization */
export async function fillPeers(db: Client, size: Size, key: string): Promise<string[]> {
  const { organizations, assistants, logs, largest } = size;
  await db.query(
    "insert into organizations (id, name) select 'org-' || n, 'Org ' || n from generate_series(2, $1::int) n",
    [organizations],
  );
  await db.query(
    `insert into assistants (organization_id, id, name, description, variables)
     select o.id, 'bench-' || lpad(n::text, 6, '0') || right(o.id, 4), 'Receptionist ' || n,
       'Answers the telephone of a dental practice and knows its calendar.', '{"name": "Ada", "opens": 8}'
     from organizations o, generate_series(1, $1::int) n`,
    [assistants],
  );
  for (const channel of ["voice", "sms", "chat"])
    await db.query(
      `insert into ${channel}_configurations (organization_id, assistant_id, prompt)
       select organization_id, id, $1 from assistants where id like 'bench-%'`,
      [PROMPT],
    );
  await db.query(
    `insert into theme_configurations (organization_id, assistant_id, theme)
     select organization_id, id, '{"primaryColor": "#336699", "title": "Ask us"}' from assistants where id like 'bench-%'`,
  );
  const { rows } = await db.query<{ id: string }>(
    "select a.id from assistants a join organizations o on o.id = organization_id where is_default and a.id like 'bench-%' order by a.id",
  );
  const ids = rows.map(({ id }) => id);
  const chats = (count: string, where: string, values: unknown[]) =>
    db.query(
      `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count, started_at, ended_at, counted)
       select a.organization_id, a.id || '-' || lpad(n::text, 6, '0'), a.id, 'TEXT', 'ended', 'none', 'Caller ' || n, ${MESSAGES},
         now() - n * interval '1 hour', now() - n * interval '1 hour', true
       from assistants a, generate_series(${count}) n where ${where}`,
      values,
    );
  await chats("1, $1::int", "a.id like 'bench-%'", [logs]);
  await chats("$1::int, $2::int", "a.id = $3", [logs + 1, logs + largest, ids[0]]);
  await db.query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select c.organization_id, c.id || '-' || m, c.id, c.assistant_id, m, case when m % 2 = 0 then 'ASSISTANT' else 'USER' end, 'TEXT',
       (select string_agg((${WORDS})[1 + (hashint8(hashtext(c.id)::bigint * 31 + m * 7 + w) & 2147483647) % 30], ' ')
        from generate_series(1, 12) w)
     from chats c join organizations o on o.id = c.organization_id, generate_series(1, ${MESSAGES}) m where is_default`,
  );
  // So that our service does not number the entries of the others.
  await db.query("create table bench_audit (like audit_outbox including all)");
  await db.query("create table bench_keys (digest text primary key, organization_id text not null)");
  await db.query("insert into bench_keys select $1, id from organizations where is_default", [
    createHash("sha256").update(key).digest("base64url"),
  ]);
  await db.query("vacuum analyze");
  return ids;
}
