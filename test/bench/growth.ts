import { Client } from "pg";
import { gql, HEADERS, percentile, send, type Bench } from "./bench";

/** Numbers of logs, ascending: an assistant of each size, in one organization. Up to 10,000,000, which takes 60 GB and hours. */
const SIZES = (process.env.GROWTH_SIZES ?? "1000,100000").split(",").map(Number);
const REQUESTS = 15;
const MESSAGES_EACH = 4;
const MOST_MS = 100;
const MOST_GROWTH = 3;

/** A request about the logs of an assistant, or of the organization. */
type Ask = (assistantId: string, size: number) => Promise<unknown>;

/** Prints the median time of lists and searches of logs for each number of logs, and how it grows. */
export async function growth({ ours, databaseUrl, table }: Bench): Promise<void> {
  const requests = requestsTo(ours.url);
  const medians = new Map<string, number[]>(Object.keys(requests).map((what) => [what, []]));
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  for (const size of SIZES) {
    const { id } = await send<{ id: string }>(`${ours.url}/rest/v1/assistants`, { name: `${size} logs` });
    await fill(db, id, size);
    for (const [what, ask] of Object.entries(requests)) {
      const times: number[] = [];
      await ask(id, size); // reads cold pages
      for (let count = 0; count < REQUESTS; count++) {
        const began = performance.now();
        await ask(id, size);
        times.push(performance.now() - began);
      }
      const median = percentile(times, 0.5);
      medians.get(what)!.push(median);
      table.add({ what: `${what}, ${size} logs`, ours: median, unit: "ms", most: MOST_MS });
    }
  }
  await db.end();
  for (const [what, [first, ...others]] of medians) {
    const last = others.at(-1);
    if (last !== undefined)
      table.add({ what: `${what}, growth`, ours: last / first!, unit: "times", most: MOST_GROWTH });
  }
}

function requestsTo(url: string): Readonly<Record<string, Ask>> {
  const rest =
    (query: (size: number) => string): Ask =>
    async (id, size) => {
      const answer = await fetch(`${url}/rest/v1/assistants/${id}/logs?${query(size)}`, { headers: HEADERS });
      if (!answer.ok) throw new Error(`${query(size)}: ${answer.status}`);
      await answer.text();
    };
  const all =
    (filter: (size: number) => string): Ask =>
    (_id, size) =>
      gql(url, `{ logs(filter: { ${filter(size)} }) { nodes { id label } } }`);
  const old = (size: number) => new Date(Date.now() - size * 30_000).toISOString(); // in the middle of the logs
  return {
    "first page": rest(() => ""),
    "first page of a channel": rest(() => "type=TEXT"),
    "a channel without logs": rest(() => "type=SMS"),
    "middle page": rest((size) => `page=${Math.ceil(size / 40)}`),
    "last page": rest((size) => `page=${Math.ceil(size / 20)}`),
    "search, rare word": rest(() => "search=zugzwang"),
    "search, absent word": rest(() => "search=xylograph"),
    "search, common word": rest(() => "search=parcel"),
    "search, absent letters": rest(() => "search=zz"),
    "search, absent phrase of common words": rest(() => "search=parcel+driver+of+the+late+order"),
    "organization, first page": all(() => ""),
    "organization, rare word": all(() => 'search: "zugzwang"'),
    "organization, absent word": all(() => 'search: "xylograph"'),
    "organization, common word": all(() => 'search: "parcel"'),
    "organization, absent letters": all(() => 'search: "zz"'),
    "organization, before a time": all((size) => `startedBefore: "${old(size)}"`),
    "organization, after a time": all((size) => `startedAfter: "${old(size)}"`),
  };
}

/** One log a minute. Without checks of foreign keys, which take most of the time. */
async function fill(db: Client, assistantId: string, size: number): Promise<void> {
  const vocabulary = `array['the','delivery','of','your','order','is','late','and','we','are','sorry','please','call','again','tomorrow',
    'morning','invoice','number','street','address','refund','account','password','help','thank','you','parcel','driver','window','name']`;
  await db.query("set session_replication_role = replica");
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count, started_at, last_message_at, ended_at)
     select a.organization_id, a.id || '-' || n, a.id, case when n % 10 = 0 then 'VOICE' else 'TEXT' end, 'ended', 'none', 'Caller ' || n, $2, t, t, t
     from assistants a, generate_series(1, $3::int) n, lateral (select now() - n * interval '1 minute' as t) as at where a.id = $1`,
    [assistantId, MESSAGES_EACH, size],
  );
  await db.query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select c.organization_id, c.id || '-' || m, c.id, c.assistant_id, m, case when m % 2 = 0 then 'ASSISTANT' else 'USER' end, 'TEXT',
       (select string_agg((${vocabulary})[1 + (hashint8(hashtext(c.id)::bigint * 31 + m * 7 + w) & 2147483647) % 30], ' ')
        from generate_series(1, 12) w)
       || case when m = 3 and hashtext(c.id) % greatest($3::int / 12, 1) = 1 then ' zugzwang' else '' end
     from chats c, generate_series(1, $2::int) m where c.assistant_id = $1`,
    [assistantId, MESSAGES_EACH, size],
  );
  await db.query("reset session_replication_role");
  await db.query("vacuum analyze chats, messages");
}
