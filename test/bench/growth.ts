import { Client } from "pg";
import { request } from "undici";
import { askAnalytics } from "./analytics";
import { gql, HEADERS, percentile, send, type Bench } from "./bench";
import { addLogs, DAYS, RARE_WORD } from "./growth-data";
import { addEntries, addTexts, listRequests } from "./growth-lists";

/** Numbers of logs, ascending: an assistant of each size, in one organization. Up to 10,000,000. */
const SIZES = (process.env.GROWTH_SIZES ?? "1000,100000").split(",").map(Number);
const REQUESTS = 15;
const MOST_MS = 100;
const MOST_ANALYTICS_MS = 300;
const MOST_GROWTH = 3;

/** A request about the logs of an assistant, or of the organization. */
type Ask = (assistantId: string, size: number) => Promise<unknown>;

/** Prints the median time of requests about logs for each number of logs, and how it grows. */
export async function growth({ ours, databaseUrl, table }: Bench): Promise<void> {
  const quiet = await send<{ id: string }>(`${ours.url}/rest/v1/assistants`, { name: "No logs" });
  const texts = await send<{ id: string }>(`${ours.url}/rest/v1/assistants`, { name: "Text chats" });
  const destination = { url: "http://127.0.0.1:1/", secret: "secret of the benchmark" };
  const { createWebhookDestination: nowhere } = await gql<{ createWebhookDestination: { id: string } }>(
    ours.url,
    `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
    { input: destination },
  );
  const requests = {
    ...requestsTo(ours.url),
    ...listRequests(
      (query) => gql(ours.url, query),
      () => quiet.id,
      () => texts.id,
    ),
  };
  const medians = new Map<string, number[]>(Object.keys(requests).map((what) => [what, []]));
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  for (const size of SIZES) {
    const began = performance.now();
    const { id } = await send<{ id: string }>(`${ours.url}/rest/v1/assistants`, { name: `${size} logs` });
    await addLogs(db, id, size, async () => {
      await addEntries(db, id, size);
      await addTexts(db, texts.id, id);
    });
    console.error(`${size} logs created in ${Math.round((performance.now() - began) / 1_000)} s`);
    // A server that has just started would make the first size look slow, and the growth small.
    if (size === SIZES[0])
      for (const ask of Object.values(requests))
        for (let count = 0; count < 2 * REQUESTS; count++) await ask(id, size);
    for (const [what, ask] of Object.entries(requests))
      medians.get(what)!.push(await medianOf(() => ask(id, size)));
  }
  // Later parts would wait for retries to it. Without deliveries, the service has nothing to remove during these parts.
  await db.query("delete from deliveries where destination_id = $1", [nowhere.id]);
  await db.query("vacuum analyze deliveries");
  await gql(ours.url, `mutation ($id: ID!) { deleteWebhookDestination(id: $id) { id } }`, nowhere);
  await db.end();
  for (const [what, times] of medians) {
    const most = what.startsWith("analytics") ? MOST_ANALYTICS_MS : MOST_MS;
    table.add({ what: `${what}, slowest size`, ours: Math.max(...times), unit: "ms", most });
    if (times.length > 1)
      table.add({
        what: `${what}, growth`,
        ours: times.at(-1)! / times[0]!,
        unit: "times",
        most: MOST_GROWTH,
      });
  }
  console.log(printed(medians));
}

async function medianOf(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 2; count++) await ask(); // reads cold pages
  for (let count = 0; count < REQUESTS; count++) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}

/** The table of medians. */
function printed(medians: ReadonlyMap<string, readonly number[]>): string {
  const rows = [...medians].map(([what, times]) =>
    [what, ...times.map((time) => time.toFixed(1)), (times.at(-1)! / times[0]!).toFixed(1)].join(" | "),
  );
  const head = `| request, ms | ${SIZES.map((size) => `${size} logs`).join(" | ")} | growth |`;
  return [head, `|---|${"---|".repeat(SIZES.length + 1)}`, ...rows.map((row) => `| ${row} |`)].join("\n");
}

const last = (size: number, take = 20) => Math.ceil(size / take);
const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const SPANS = {
  "an old day": `startedAfter: "${ago(DAYS / 2)}", startedBefore: "${ago(DAYS / 2 - 1)}"`,
  "before a time": `startedBefore: "${ago(DAYS / 2)}"`,
  "after a time": `startedAfter: "${ago(DAYS / 2)}"`,
};
const SEARCHES = {
  "a rare word": RARE_WORD,
  "an absent word": "xylograph",
  "a common word": "parcel",
  "absent letters": "zz",
  "an absent phrase of common words": "parcel driver of the late order",
};

function requestsTo(url: string): Readonly<Record<string, Ask>> {
  const rest =
    (query: (size: number) => string): Ask =>
    async (id, size) => {
      const path = `${url}/rest/v1/assistants/${id}/logs?${query(size)}`;
      const { statusCode, body } = await request(path, { headers: HEADERS });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
    };
  const all =
    (filter: string): Ask =>
    () =>
      gql(url, `{ logs(filter: { ${filter} }) { nodes { id label } } }`);
  const each = <T>(some: Readonly<Record<string, T>>, name: (one: string) => string, ask: (one: T) => Ask) =>
    Object.fromEntries(Object.entries(some).map(([one, value]) => [name(one), ask(value)]));
  const ofOne =
    (filter: string): Ask =>
    (id) =>
      all(`assistantId: "${id}", ${filter}`)(id, 0);
  return {
    "first page": rest(() => ""),
    "middle page": rest((size) => `page=${last(size / 2)}`),
    "last page": rest((size) => `page=${last(size)}`),
    "last page, oldest first": rest((size) => `page=${last(size)}&order=asc`),
    "first page of a channel": rest(() => "type=VOICE"),
    "middle page of a channel": rest((size) => `page=${last(size / 20)}&type=VOICE`),
    "a channel without logs": rest(() => "type=SMS"),
    ...each(
      SEARCHES,
      (one) => `search, ${one}`,
      (text) => rest(() => `search=${encodeURIComponent(text)}`),
    ),
    ...each(SPANS, (one) => `logs of ${one}`, ofOne),
    "organization, first page": all(""),
    "organization, a channel": all("type: VOICE"),
    ...each(
      SEARCHES,
      (one) => `organization, search, ${one}`,
      (text) => all(`search: "${text}"`),
    ),
    ...each(SPANS, (one) => `organization, logs of ${one}`, all),
    "analytics, 30 days": () => askAnalytics(url, 30),
    "analytics, 90 days": () => askAnalytics(url, 90),
  };
}
