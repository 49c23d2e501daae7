import type { Client } from "pg";
import { DAYS } from "./growth-data";

/** Failed deliveries, and events of a function, of each assistant, whatever the number of its logs. */
const RARE = 12;
/** Of this many logs, one belongs to a person of its own. */
const SPARSE = 10;
/** Positions of events follow their time. */
const MICROSECONDS = "(extract(epoch from c.started_at) * 1e6)";

/** Gives the logs of an assistant an event with a delivery and an entry in the audit log, and calls and people to some. */
export async function addEntries(db: Client, assistantId: string, size: number): Promise<void> {
  const rare = Math.max(1, Math.floor(size / RARE));
  const chats = `(select *, row_number() over (order by id) as n from chats where assistant_id = $1) c`;
  await db.query(
    `insert into events (organization_id, id, name, type, assistant_id, chat_id, body, transaction, created_at)
     select c.organization_id, c.id, case when n % $2 = 0 then 'function-call' when n % 2 = 0 then 'status-changed' else 'session-end' end,
       c.channel, c.assistant_id, c.id,
       json_build_object('event', 'session-start', 'type', c.channel, 'companionId', c.assistant_id,
         'data', json_build_object('startedAt', c.started_at, 'userId', null, 'phoneNumber', null))::text,
       ${MICROSECONDS}::bigint::text::xid8, c.started_at from ${chats}`,
    [assistantId, rare],
  );
  await db.query(
    `insert into deliveries (organization_id, id, event_id, destination_id, chat_id, status, attempt, next_attempt_at, attempts,
       created_at, duration_ms)
     select c.organization_id, c.id, c.id, d.id, c.id, case when n % $2 = 0 then 'FAILED' else 'DELIVERED' end, 1, c.started_at,
       '[{"number": 1, "status": 200, "error": null, "answer": "ok", "startedAt": "2026-01-01T00:00:00.000Z", "durationMs": 12}]',
       c.started_at, 12 from ${chats}, webhook_destinations d`,
    [assistantId, rare],
  );
  await db.query(
    `insert into calls (organization_id, chat_id, kind, engine, sealed_secret, created_at)
     select c.organization_id, c.id, 'WEB', 'page', 'none', c.started_at from ${chats} where channel = 'VOICE'`,
    [assistantId],
  );
  await db.query(
    `insert into end_users (organization_id, id, assistant_id, unique_id, created_at)
     select c.organization_id, c.id, c.assistant_id, 'person ' || c.id, c.started_at from ${chats} where n % ${SPARSE} = 0`,
    [assistantId],
  );
  await addAudit(db, chats, assistantId);
  await db.query(
    `update ledger_heads l set position = greatest(position, (select max(transaction::text::bigint) from events e
       where e.organization_id = l.organization_id))`,
  );
}

/** Gives an assistant text chats, as many as the logs of another one, and no calls. */
export async function addTexts(db: Client, assistantId: string, logsOf: string): Promise<void> {
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at, last_message_at,
       ended_at, ended_reason, counted)
     select organization_id, 'text of ' || id, $1, 'TEXT', 'ended', 'none', label, started_at, last_message_at, ended_at, ended_reason, true
     from chats where assistant_id = $2`,
    [assistantId, logsOf],
  );
}

const COLUMNS = `id, kind, actor, key_id, person, address, interface, operation, record_type, record_id, fields, created_at, previous_hash, hash`;

/** Most entries are about messages, one in ten by a person. Positions follow the time, and have no gaps. */
async function addAudit(db: Client, chats: string, assistantId: string): Promise<void> {
  await db.query("begin");
  await db.query("lock table audit_heads in exclusive mode"); // the service seals entries meanwhile
  await db.query(
    `create temporary table entries as select organization_id, ${COLUMNS} from audit_events union all
     select c.organization_id, c.id, 'CHANGE', 'SECRET', 'key', case when n % ${SPARSE} = 0 then 'digest ' || c.id end,
       '203.0.113.1', 'REST', 'postMessage', 'Chat', c.id,
       case when n % ${SPARSE} = 0 then jsonb_build_array(jsonb_build_object('name', 'uniqueId', 'digest', c.id)) else '[]' end, c.started_at,
       'none', 'none' from ${chats}`.replaceAll("$1", `'${assistantId}'`),
  );
  await db.query("truncate audit_events");
  await db.query(
    `insert into audit_events (organization_id, position, ${COLUMNS})
     select organization_id, row_number() over (partition by organization_id order by created_at), ${COLUMNS} from entries`,
  );
  await db.query("drop table entries");
  await db.query(
    `update audit_heads h set position = (select max(position) from audit_events e where e.organization_id = h.organization_id)`,
  );
  await db.query("commit");
}

const half = (before = 0) => `"${new Date(Date.now() - (DAYS / 2 - before) * 86_400_000).toISOString()}"`;
const spans = (after: string, before: string) => ({
  "of an old day": `${after}: ${half()}, ${before}: ${half(1)}`,
  "before a time": `${before}: ${half()}`,
  "after a time": `${after}: ${half()}`,
});

/** Filters of the lists that grow with the conversations. The assistant of the size is `$id`, one with as many text chats `$texts`, one without conversations `$quiet`. */
const LISTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  chats: {
    "first page": "",
    "of a channel": "channel: VOICE",
    "of a channel without any": "channel: SMS",
    ended: 'status: "ended"',
    "that ring": 'status: "ringing"',
    ...spans("startedAfter", "startedBefore"),
  },
  calls: {
    "first page": "",
    "of an assistant": "assistantId: $id",
    "of an assistant without any": "assistantId: $quiet",
    "of an assistant with text chats only": "assistantId: $texts",
    "that ring": 'status: "ringing"',
    "of an assistant, that ring": 'assistantId: $id, status: "ringing"',
    "of an unknown user": 'userId: "nobody"',
    "of an unknown external id": 'externalId: "none"',
    "of an unknown number": 'phoneNumber: "+15550100"',
    "of an unknown workflow": 'workflowId: "none"',
    "of an unknown deployment": 'deploymentId: "none"',
    ...spans("from", "to"),
  },
  events: {
    "first page": "",
    "of a common name": 'name: "session-end"',
    "of a rare name": 'name: "function-call"',
    "of an absent name": 'name: "call-recording"',
    "of an assistant": "assistantId: $id",
    "of an assistant without any": "assistantId: $quiet",
    "of an assistant and a rare name": 'assistantId: $id, name: "function-call"',
    "of an assistant and an absent name": 'assistantId: $id, name: "call-recording"',
    ...spans("createdAfter", "createdBefore"),
    "of an assistant before a time": `assistantId: $id, createdBefore: ${half()}`,
  },
  endUsers: { "first page": "" },
  auditEvents: {
    "first page": "",
    disclosures: "kind: DISCLOSURE",
    "of an actor": "actor: SECRET",
    "of an absent actor": "actor: VISITOR",
    "of a key": 'keyId: "key"',
    "of an absent key": 'keyId: "other"',
    "of an absent person": 'person: "somebody"',
    "of an absent address": 'address: "203.0.113.2"',
    "of an absent operation": 'operation: "deleteLogs"',
    "of a type without any": 'recordType: "Workflow"',
    "of an absent record": 'recordId: "none"',
    ...spans("from", "to"),
  },
};

/** Requests for a page of each list. @param ask sends a query */
export function listRequests(
  ask: (query: string) => Promise<unknown>,
  quietId: () => string,
  textsId: () => string,
): Record<string, (assistantId: string) => Promise<unknown>> {
  const lists = Object.entries(LISTS).flatMap(([list, filters]) =>
    Object.entries(filters).map(([what, filter]) => [
      `${list}, ${what}`,
      (id: string) => {
        const ids = { $id: id, $quiet: quietId(), $texts: textsId() };
        const given = filter.replace(/\$\w+/, (name) => `"${ids[name as keyof typeof ids]}"`); // as LISTS names them
        return ask(
          `{ ${list}${given && `(filter: { ${given} })`} { edges { cursor } pageInfo { hasNextPage } } }`,
        );
      },
    ]),
  );
  const last = Object.keys(LISTS).map((list) => [
    `${list}, last page`,
    () => ask(`{ ${list}(last: 20) { edges { cursor } } }`),
  ]);
  const counts = Object.keys(LISTS).map((list) => [
    `${list}, their number`,
    () => ask(`{ ${list}(first: 1) { totalCount } }`),
  ]);
  const failed = [
    "deliveries, failed",
    () => ask(`{ webhookDestinations { deliveries(status: FAILED) { edges { cursor } } } }`),
  ];
  const deliveries = [
    "deliveries, first page",
    () => ask(`{ webhookDestinations { deliveries { edges { cursor } } } }`),
  ];
  return Object.fromEntries([...lists, ...last, ...counts, deliveries, failed]) as Record<
    string,
    (assistantId: string) => Promise<unknown>
  >;
}
