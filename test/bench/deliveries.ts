import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { gql, HEADERS, percentile, type Bench } from "./bench";
import type { Posted, Posting } from "./poster";
import type { Table } from "./table";

const CHATS = 100;
const CONNECTIONS = 16;
/** Time that the receiver takes for an answer, in ms. */
const ANSWER_MS = 10;
const ROUNDS = 3;
/** Loads below the most that is possible, in posts a second, with the share that must be delivered while posting goes on. */
const PACES = [150, 500];
const LEAST_SHARE = 0.95;
/** Speed of posting with a destination, of that without one. */
const LEAST_SPEED = 0.8;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
/** Delivered events that are added for the second half; `OLD_DELIVERIES=10000000` takes about ten minutes and 15 GB. */
const OLD = Number(process.env.OLD_DELIVERIES ?? 200_000);
/** The most events that a replay sends. */
const MOST_REPLAYED = 10_000;

interface Arrival {
  readonly id: string;
  /** Since 1970, in ms, by the clock of this machine, which is that of the database. */
  readonly at: number;
}

/** An assistant of a project of its own, and the project's destination, if it has one. */
interface Side {
  readonly assistantId: string;
  readonly destinationId?: string;
}

/**
 * Measures deliveries of few long conversations to one receiver, and how much they slow down posting: conversations
 * with and without a destination by turns, new ones in each round. Then the same beside many old deliveries.
 */
export async function deliveries(bench: Bench): Promise<void> {
  const arrivals: Arrival[] = [];
  const receiver = createServer((req, res) => {
    arrivals.push({ id: String(req.headers["webhook-id"]), at: performance.timeOrigin + performance.now() });
    req.resume();
    req.on("end", () => setTimeout(() => res.end(), ANSWER_MS));
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const db = new Client({ connectionString: bench.databaseUrl });
  await db.connect();
  const poster = fork(join("dist", "bench", "poster.js"));
  try {
    const post = async (side: Side, perSecond?: number) => {
      const headers = { ...HEADERS, "Content-Type": "application/json" };
      const posting: Posting = {
        ...{ origin: bench.ours.url, headers, connections: CONNECTIONS, seconds: SECONDS },
        bodies: await conversations(bench, side.assistantId),
        ...(perSecond && { perSecond }),
      };
      const answered = once(poster, "message");
      poster.send(posting);
      const [posted] = (await answered) as [Posted];
      if ("failure" in posted) throw new Error(posted.failure);
      return posted;
    };
    const { port } = receiver.address() as AddressInfo;
    const alone = await newSide(bench);
    const heard = await newSide(bench, `http://127.0.0.1:${port}/`);
    const part = { bench, db, arrivals, post, alone, heard };
    // As after the first minute of a new database, when PostgreSQL has gathered statistics.
    for (const side of [alone, heard]) await post(side);
    await drained(db, heard);
    await db.query("vacuum analyze");
    const all = async (beside: string) => {
      await measure(part, beside);
      for (const pace of PACES) await measureAt(pace, part, beside);
    };
    await all("");
    if (OLD === 0) return;
    const before = await newSide(bench);
    await addOld(db, before.assistantId, heard.destinationId!);
    await all(`, beside ${OLD} old deliveries`);
  } finally {
    poster.kill();
    await db.end();
    receiver.closeAllConnections();
    receiver.close();
  }
}

interface Part {
  readonly bench: Bench;
  readonly db: Client;
  readonly arrivals: Arrival[];
  readonly post: (side: Side, perSecond?: number) => Promise<Exclude<Posted, { failure: string }>>;
  readonly alone: Side;
  readonly heard: Side;
}

async function measure(part: Part, beside: string) {
  const { bench, db, arrivals, post, alone, heard } = part;
  const { table } = bench;
  const rates = {
    alone: [] as number[],
    heard: [] as number[],
    during: [] as number[],
    after: [] as number[],
  };
  const backlogs: number[] = [];
  await settled(arrivals);
  const first = arrivals.length;
  let lastRound = new Date();
  for (let round = 0; round < ROUNDS; round++) {
    rates.alone.push((await post(alone)).rate);
    lastRound = new Date();
    rates.heard.push((await post(heard)).rate);
    rates.during.push(lately(arrivals));
    backlogs.push(await pending(db, heard));
    await drained(db, heard);
  }
  const waits = await firstBytes(db, arrivals.slice(first));
  const heldUp = await replayed(part, lastRound);

  const [without, withOne] = [percentile(rates.alone, 0.5), percentile(rates.heard, 0.5)];
  table.add({ what: `posts a second without a destination${beside}`, ours: without, unit: "/s", least: 0 });
  table.add({
    what: `posts a second with one, of those without${beside}`,
    ...{ target: LEAST_SPEED, ours: withOne, baseline: without, ratio: withOne / without },
  });
  const during = percentile(rates.during, 0.5);
  table.add({
    what: `deliveries a second while posting${beside}`,
    ours: during,
    unit: "/s",
    least: Math.floor(withOne * LEAST_SHARE),
  });
  table.add({ what: `waiting when posting ends${beside}`, ours: Math.max(...backlogs), unit: "", most: 100 });
  table.add({
    what: `deliveries a second of ${heldUp.events} held up in ${CHATS} conversations${beside}`,
    ...{ ours: heldUp.events / heldUp.seconds, unit: "/s", least: 500 },
  });
  addWaits(table, waits, `at full load${beside}`);
}

/** Sends the events of the last round again, at once. @returns their number, and the time from the first arrival to the last */
async function replayed({ bench, db, arrivals, heard }: Part, since: Date) {
  const { destinationId, assistantId } = heard;
  const filter = { assistantId, createdAfter: since.toISOString() };
  const before = arrivals.length;
  const { replayEvents } = await gql<{ replayEvents: { events: number } }>(
    bench.ours.url,
    `mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }`,
    { input: { destinationId, filter, dryRun: false } },
  );
  const events = Math.min(replayEvents.events, MOST_REPLAYED);
  while (arrivals.length < before + events) await sleep(50);
  await drained(db, heard);
  const again = arrivals.slice(before);
  const { rows } = await db.query<{ chats: number }>(
    "select count(distinct chat_id)::int as chats from events where id = any($1)",
    [again.map(({ id }) => id)],
  );
  if (rows[0]!.chats !== CHATS)
    throw new Error(`The replayed events are of ${rows[0]!.chats} conversations instead of ${CHATS}.`);
  return { events, seconds: (again.at(-1)!.at - again[0]!.at) / 1_000 };
}

/** Measures deliveries while somebody posts less than is possible, with and without a destination by turns. */
async function measureAt(
  pace: number,
  { bench: { table }, db, arrivals, post, alone, heard }: Part,
  beside: string,
) {
  await settled(arrivals);
  const first = arrivals.length;
  const found = {
    alone: [] as number[],
    heard: [] as number[],
    rates: [] as number[],
    delivered: [] as number[],
  };
  for (let round = 0; round < ROUNDS; round++) {
    found.alone.push((await post(alone, pace)).median);
    const { rate, median } = await post(heard, pace);
    found.heard.push(median);
    found.rates.push(rate);
    found.delivered.push(lately(arrivals));
    await drained(db, heard);
  }
  const baseline = percentile(found.alone, 0.5);
  const when = `at ${percentile(found.rates, 0.5).toFixed(0)} posts a second${beside}`;
  table.add({
    what: `deliveries a second ${when}`,
    ...{ ours: percentile(found.delivered, 0.5), unit: "/s", least: Math.floor(pace * LEAST_SHARE) },
  });
  table.add({ what: `a post ${when}, without a destination, median`, ours: baseline, unit: "ms" });
  table.add({
    what: `a post ${when}, median`,
    ...{ ours: percentile(found.heard, 0.5), unit: "ms", most: Number((baseline / LEAST_SPEED).toFixed(2)) },
  });
  addWaits(table, await firstBytes(db, arrivals.slice(first)), when, [30, 150]);
}

/** Arrivals a second while messages were posted, which has just ended. */
function lately(arrivals: readonly Arrival[]): number {
  const since = performance.timeOrigin + performance.now() - SECONDS * 1_000;
  return arrivals.filter(({ at }) => at > since).length / SECONDS;
}

/** @param targets of the median and the 99th percentile, in ms */
function addWaits(table: Table, waits: number[], when: string, targets: readonly number[] = []): void {
  for (const [name, part, most] of [
    ["median", 0.5, targets[0]],
    ["99th percentile", 0.99, targets[1]],
  ] as const)
    table.add({
      what: `commit to first byte ${when}, ${name}`,
      ours: percentile(waits, part),
      unit: "ms",
      ...(most && { most }),
    });
}

async function newSide({ ours }: Bench, url?: string): Promise<Side> {
  const { createProject } = await gql<{ createProject: { id: string } }>(
    ours.url,
    `mutation { createProject(input: { name: "Benchmark" }) { id } }`,
  );
  const projectId = createProject.id;
  const { createAssistant } = await gql<{ createAssistant: { id: string } }>(
    ours.url,
    `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }`,
    { input: { name: "Ada", projectId } },
  );
  const assistantId = createAssistant.id;
  if (url === undefined) return { assistantId };
  const { createWebhookDestination } = await gql<{ createWebhookDestination: { id: string } }>(
    ours.url,
    `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
    { input: { url, secret: "secret of the benchmark", projectId } },
  );
  return { assistantId, destinationId: createWebhookDestination.id };
}

/** Starts conversations. @returns a message for each, as bodies of requests */
async function conversations({ ours }: Bench, assistantId: string): Promise<string[]> {
  const bodies: string[] = [];
  for (let count = 0; count < CHATS; count++) {
    const { startChat } = await gql<{ startChat: { id: string } }>(
      ours.url,
      `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
      { input: { assistantId, channel: "TEXT" } },
    );
    const message = { role: "ASSISTANT", channel: "TEXT", content: "noted", metadata: {} };
    bodies.push(JSON.stringify({ ...message, aiChatId: startChat.id }));
  }
  return bodies;
}

/** Adds deliveries of ended conversations of an assistant, which have been made long ago. */
async function addOld(db: Client, assistantId: string, destinationId: string): Promise<void> {
  const batch = 500_000;
  for (let from = 0; from < OLD; from += batch) {
    const values = [destinationId, from, Math.min(from + batch, OLD) - 1, assistantId];
    await db.query(
      `with made as (
        insert into events (organization_id, id, name, type, assistant_id, chat_id, body, transaction, created_at)
        select d.organization_id, '00000000-' || lpad(n::text, 27, '0'), 'session-start', 'TEXT', $4, 'old-' || n / 20, '{}', (3 + n % 1000)::text::xid8,
          now() - interval '20 days'
        from webhook_destinations d, generate_series($2::int, $3::int) n where d.id = $1
        returning organization_id, id, chat_id, created_at
      )
      insert into deliveries (organization_id, id, event_id, destination_id, chat_id, status, attempt, next_attempt_at, attempts,
        created_at, duration_ms)
      select organization_id, id, id, $1, chat_id, 'DELIVERED', 1, created_at,
        '[{"number": 1, "status": 200, "error": null, "answer": "ok", "startedAt": "2026-01-01T00:00:00.000Z", "durationMs": 12}]',
        created_at, 12
      from made`,
      values,
    );
  }
  await db.query("vacuum analyze events");
  await db.query("vacuum analyze deliveries");
}

/** Times from the beginning of the transaction that stored an event to its first byte, in ms; the first arrival counts. */
async function firstBytes(db: Client, arrivals: readonly Arrival[]): Promise<number[]> {
  const { rows } = await db.query<{ id: string; at: number }>(
    "select id, extract(epoch from created_at)::float8 * 1000 as at from events where id = any($1)",
    [arrivals.map(({ id }) => id)],
  );
  const stored = new Map(rows.map(({ id, at }) => [id, at]));
  const waits: number[] = [];
  for (const { id, at } of arrivals) {
    const since = stored.get(id);
    if (since !== undefined) waits.push(at - since);
    stored.delete(id);
  }
  return waits;
}

async function pending(db: Client, { destinationId }: Side): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select (count(*) filter (where destination_id = $1))::int as count from deliveries where status = 'PENDING'",
    [destinationId],
  );
  return rows[0]!.count;
}

async function drained(db: Client, side: Side): Promise<void> {
  while ((await pending(db, side)) > 0) await sleep(50);
}

/** Waits until nothing has arrived for a second. */
async function settled(arrivals: readonly unknown[]): Promise<void> {
  for (let seen = -1; seen !== arrivals.length; await sleep(1_000)) seen = arrivals.length;
}
