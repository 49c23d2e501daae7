import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Client } from "./client";
import type { Follower } from "./follower";
import type { Installation } from "./installation";
import type { Acknowledged } from "./traffic";

/** A condition that must hold, and the cases in which it does not. */
export interface Invariant {
  readonly name: string;
  /** Number of checked cases. */
  readonly checked: number;
  readonly broken: readonly string[];
}

/** Time for the backlog to drain after the last fault, in ms: retries wait up to 5 minutes. */
const DRAIN_TIMEOUT_MS = 420_000;

/** Excludes the next runs of periodic tasks, whose key is the task's name. */
const BACKLOG = `
  select (select count(*) from deliveries where status = 'PENDING')
    + (select count(*) from begun_jobs)
    + (select count(*) from graphile_worker.jobs
      where key is distinct from task_identifier and run_at <= now() + interval '1 minute') as waiting`;

/**
 * Waits until no delivery and no job is due.
 * @returns the time that this took, in seconds; undefined after a timeout
 */
export async function drained({ pool }: Installation): Promise<number | undefined> {
  const began = performance.now();
  for (; performance.now() - began < DRAIN_TIMEOUT_MS; await sleep(1_000)) {
    const { rows } = await pool.query<{ waiting: string }>(BACKLOG);
    if (Number(rows[0]!.waiting) === 0) return (performance.now() - began) / 1_000;
  }
  return undefined;
}

/** Checks all invariants after all work has ended. */
export async function check(
  installation: Installation,
  client: Client,
  acknowledged: Acknowledged,
): Promise<Invariant[]> {
  return [
    await readable(client, acknowledged),
    await messagesKept(installation, acknowledged),
    await filesKept(installation, client, acknowledged),
    {
      name: "every question is answered",
      checked: acknowledged.messages.size,
      broken: acknowledged.unanswered,
    },
    await answeredOnce(installation),
    textsAnsweredOnce(installation, acknowledged),
    dialedOnce(installation, acknowledged),
    await callsComplete(installation, acknowledged),
    await delivered(installation),
    providersContent(installation),
  ];
}

async function readable(client: Client, { assistants }: Acknowledged): Promise<Invariant> {
  const broken: string[] = [];
  for (const [id, expected] of assistants) {
    const found = await client.rest<{ name: string; description: string }>(
      "GET",
      `/rest/v1/assistants/${id}`,
      200,
    );
    if (found.name !== expected.name || (found.description ?? "") !== expected.description)
      broken.push(`${id}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
  return { name: "every acknowledged assistant is as last acknowledged", checked: assistants.size, broken };
}

async function messagesKept({ pool }: Installation, { messages }: Acknowledged): Promise<Invariant> {
  const { rows } = await pool.query<{ id: string; content: string }>("select id, content from messages");
  const stored = new Map(rows.map(({ id, content }) => [id, content]));
  const broken = [...messages].filter(([id, { content }]) => stored.get(id) !== content).map(([id]) => id);
  return { name: "every acknowledged message is stored", checked: messages.size, broken };
}

async function filesKept(
  { servers }: Installation,
  client: Client,
  { files }: Acknowledged,
): Promise<Invariant> {
  const broken: string[] = [];
  let turn = 0;
  for (const [id, digest] of files) {
    const { url } = await client.rest<{ url: string }>("GET", `/rest/v1/files/${id}/download`, 200);
    const { pathname, search } = new URL(url);
    const response = await fetch(servers[turn++ % servers.length]!.url + pathname + search);
    const content = Buffer.from(await response.arrayBuffer());
    if (createHash("sha256").update(content).digest("hex") !== digest)
      broken.push(`${id}: ${response.status}`);
  }
  return { name: "every acknowledged file can be downloaded from any server", checked: files.size, broken };
}

/** Finds duplicate answers: messages of an assistant that answer the same question, except the first. */
async function answeredOnce({ pool }: Installation): Promise<Invariant> {
  const { rows } = await pool.query<{ content: string; count: string }>(
    `select content, count(*) from messages where role = 'ASSISTANT' and content like 'answer to question %'
     group by chat_id, content`,
  );
  const broken = rows
    .filter(({ count }) => Number(count) > 1)
    .map(({ content, count }) => `${content}: ${count} times`);
  return { name: "no question is answered twice", checked: rows.length, broken };
}

function textsAnsweredOnce({ twilio }: Installation, { texts }: Acknowledged): Invariant {
  const broken: string[] = [];
  for (const [number, replies] of texts) {
    const sent = [...replies, ...twilio.sentTo(number).map(({ Body }) => Body)];
    const answers = sent.filter((text) => text.startsWith("answer to "));
    if (answers.length > 1) broken.push(`${number} got ${answers.length} answers`);
    if (sent.length === 0) broken.push(`${number} got no answer`);
  }
  return { name: "every text is answered, once", checked: texts.size, broken };
}

function dialedOnce({ vapi }: Installation, { calls }: Acknowledged): Invariant {
  const dialed = new Map<string, number>();
  for (const { name = "" } of vapi.calls) dialed.set(name, (dialed.get(name) ?? 0) + 1);
  const twice = [...dialed]
    .filter(([, count]) => count > 1)
    .map(([id, count]) => `${id} dialed ${count} times`);
  return { name: "no call is dialed twice", checked: calls.size, broken: twice };
}

async function callsComplete({ pool, vapi }: Installation, { calls }: Acknowledged): Promise<Invariant> {
  const { rows } = await pool.query<{ id: string; status: string; words: string[] | null }>(
    `select id, status, (select array_agg(content order by sequence) from messages
       where messages.organization_id = chats.organization_id and chat_id = chats.id and role in ('USER', 'ASSISTANT')) as words
     from chats where id = any($1)`,
    [[...calls]],
  );
  const broken: string[] = [];
  for (const { id, status, words } of rows) {
    const call = vapi.calls.find(({ name }) => name === id);
    const expected = call && ["Good morning.", `question ${call.id}`, `answer to ${call.id}`];
    if (status !== "ended") broken.push(`${id} is ${status}`);
    else if (expected && JSON.stringify(words) !== JSON.stringify(expected))
      broken.push(`${id} has the words ${JSON.stringify(words)}; ${await reportsOf(pool, id)}`);
  }
  if (rows.length < calls.size) broken.push(`${calls.size - rows.length} calls are missing`);
  return { name: "every call has ended, with all its words", checked: calls.size, broken };
}

/** The stored reports of a call, to find reports without effect. */
async function reportsOf(pool: Pool, id: string): Promise<string> {
  const { rows } = await pool.query<{ said: string }>(
    `select json_agg(json_build_object('at', created_at, 'answer', answer) order by created_at)::text as said
     from engine_callbacks where chat_id = $1
     union all select json_build_object('started', started_at, 'ended', ended_at, 'reason', ended_reason)::text
     from chats where id = $1`,
    [id],
  );
  return rows.map(({ said }) => said).join(" ");
}

async function delivered({ pool, receiver }: Installation): Promise<Invariant> {
  const arrived = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
  const { rows } = await pool.query<{ event_id: string }>("select distinct event_id from deliveries");
  const broken = rows.map(({ event_id }) => event_id).filter((id) => !arrived.has(id));
  return { name: "every event reached its destination", checked: rows.length, broken };
}

/** Time for the subscription to deliver the committed events, in ms. */
const FOLLOW_TIMEOUT_MS = 30_000;

/**
 * Stops the subscription and checks that it received every event since its first one exactly once. Later events do not
 * count: the servers keep running and end idle chats.
 */
export async function followed({ pool }: Installation, follower: Follower): Promise<Invariant> {
  const { ids } = follower;
  const { rows } = await pool.query<{ id: string; at: Date }>("select id, created_at as at from events");
  const first = rows.find(({ id }) => id === ids[0])?.at ?? new Date(0);
  const expected = rows.filter(({ at }) => at > first);
  await follower.stopAfter(
    expected.map(({ id }) => id),
    FOLLOW_TIMEOUT_MS,
  );
  const seen = new Set(ids);
  const missed = expected
    .filter(({ id }) => !seen.has(id))
    .map(({ id, at }) => `${id} of ${at.toISOString()} was missed`);
  const repeated = seen.size < ids.length ? [`${ids.length - seen.size} came twice`] : [];
  return {
    name: "the subscription saw every event, once",
    checked: expected.length,
    broken: [...missed, ...repeated],
  };
}

const providersContent = ({ vapi, twilio }: Installation): Invariant => ({
  name: "providers found nothing wrong with our requests",
  checked: vapi.created.length + twilio.sent.length,
  broken: [...vapi.problems, ...twilio.problems],
});
