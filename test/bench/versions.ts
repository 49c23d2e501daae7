import { Client } from "pg";
import { Pool } from "undici";
import { HEADERS, type Bench } from "./bench";
import { ratio, type Table } from "./table";

/** Short rounds in turn, so that other load of the machine affects both sides equally. */
const ROUNDS = Number(process.env.VERSIONS_ROUNDS ?? 31);
const CHANGES = 150;
const CONNECTIONS = 8;
const READS = 300;
/** Versions of the two assistants whose pages are compared. */
const MANY = 10_000;
const FEW = 10;
/** The compiled modules, one of which the baseline replaces: the package has them all in one file. */
const MAIN = "dist/src/main.js";
const WITHOUT = "./test/bench/without-versions.cjs";

const SIDES = ["ours", "baseline"] as const;
type Side = (typeof SIDES)[number];
type Rates = Record<Side, number>;

/**
 * Compares changes of a configuration on two servers with one database, of which one makes no versions, and pages of
 * the versions of two assistants, of which one has many.
 */
export async function versions({ ours, databaseUrl, encryptionKeys, serve, table, load, ids }: Bench) {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const settings = { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: encryptionKeys(), HOST: "127.0.0.1" };
  const servers = {
    ours: await serve(settings, [MAIN]),
    baseline: await serve(settings, ["--require", WITHOUT, MAIN]),
  };
  const urls = { ours: servers.ours.url, baseline: servers.baseline.url };
  const changing = { urls, db, table, ids: ids.slice(0, CONNECTIONS) };
  const prompt = words(1_570);
  try {
    await changes("PATCH of a number", changing, (n) => ({
      temperature: (n % 200) / 100,
    }));
    await changes("PATCH of a prompt of 8 KB", changing, (n) => ({
      prompt: `${n} ${prompt}`,
    }));
    await changes("PATCH of a function", changing, (n) => ({
      functions: [{ ...FUNCTION, description: `Finds an order. ${n}` }],
    }));
  } finally {
    for (const side of SIDES) await servers[side].stop();
  }
  const pool = poolOf(ours.url);
  // A change stores the first version.
  for (const id of ids.slice(CONNECTIONS, CONNECTIONS + 2)) await change(pool, id, { temperature: 0.5 });
  await pool.destroy();
  await fill(db, ids[CONNECTIONS]!, MANY);
  await fill(db, ids[CONNECTIONS + 1]!, FEW);
  await db.end();
  const assistants = {
    ours: { id: ids[CONNECTIONS]!, last: MANY },
    baseline: { id: ids[CONNECTIONS + 1]!, last: FEW },
  };
  const pages: Record<string, (id: string, last: number) => string> = {
    "first page": () => "first: 5",
    "last page": () => "last: 5",
    "page after a cursor": (id, last) => `first: 5, after: "${id}.${last / 2 + 1}"`,
  };
  for (const [what, page] of Object.entries(pages))
    await interleaved(`${what} of ${MANY} versions, beside ${FEW}`, 0.9, table, async (side) => {
      const { id, last } = assistants[side];
      const query = `{ assistant(id: "${id}") { versions(${page(id, last)}) { nodes { number note actor createdAt } pageInfo { hasNextPage hasPreviousPage } } } }`;
      const headers = { ...HEADERS, "Content-Type": "application/json" };
      const work = { origin: ours.url, method: "POST", path: "/graphql", headers } as const;
      const body = JSON.stringify({ query });
      return READS / (await load.send({ ...work, body, requests: READS, connections: CONNECTIONS }));
    });
}

const VOCABULARY =
  "you answer the calls of a dental practice and know its calendar ask for name first then offer times never promise what it does not have be brief polite if somebody is in pain put them through to person at desk write down their number repeat every date slowly".split(
    " ",
  );

const FUNCTION = {
  name: "find_order",
  parameters: { type: "object", properties: { number: { type: "string" } } },
  serverUrl: "https://example.com/orders",
  secretKey: "secret",
};

/** A text of some words, in an order that compression does not find: 8 KB with 1,570. */
function words(count: number): string {
  let state = 1;
  const next = () => VOCABULARY[(state = (state * 48_271) % 2_147_483_647) % VOCABULARY.length];
  return Array.from({ length: count }, next).join(" ");
}

interface Changing {
  readonly urls: Readonly<Record<Side, string>>;
  readonly db: Client;
  readonly table: Table;
  /** Assistants, one for each connection, so that changes do not wait for each other. */
  readonly ids: readonly string[];
}

/** @throws Error unless just one of the servers has made a version for each change */
async function changes(
  what: string,
  { urls, db, table, ids }: Changing,
  body: (n: number) => object,
): Promise<void> {
  let number = 0;
  const pools = { ours: poolOf(urls.ours), baseline: poolOf(urls.baseline) };
  const made: Rates = { ours: 0, baseline: 0 };
  await interleaved(`${what} with its version, beside one without`, 0.85, table, async (side) => {
    const before = await count(db, ids);
    const until = number + CHANGES;
    const one = async (id: string) => {
      while (number < until) await change(pools[side], id, body(number++));
    };
    const began = performance.now();
    await Promise.all(ids.map(one));
    const seconds = (performance.now() - began) / 1_000;
    made[side] += (await count(db, ids)) - before;
    return CHANGES / seconds;
  });
  await Promise.all(SIDES.map((side) => pools[side].destroy()));
  const expected = CHANGES * (ROUNDS + 1);
  if (made.baseline !== 0 || made.ours < expected * 0.9)
    throw new Error(`${expected} changes have made ${made.ours} and ${made.baseline} versions.`);
}

const poolOf = (url: string) => new Pool(url, { connections: CONNECTIONS, pipelining: 1 });

async function change(pool: Pool, id: string, body: object): Promise<void> {
  const answer = await pool.request({
    method: "PATCH",
    path: `/rest/v1/assistants/${id}/chat`,
    headers: { ...HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`PATCH: ${answer.statusCode} ${text}`);
}

async function count(db: Client, ids: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    "select sum(number) as count from version_heads where assistant_id = any($1::text[])",
    [ids],
  );
  return Number(rows[0]!.count);
}

/** Gives an assistant as many versions, each with the content of the current one. */
async function fill(db: Client, id: string, versions: number): Promise<void> {
  await db.query("delete from assistant_versions where assistant_id = $1", [id]);
  await db.query(
    `insert into assistant_versions (organization_id, assistant_id, number, content, actor, created_at)
     select organization_id, assistant_id, n, content, 'SYSTEM', now() - make_interval(mins => $2 - n)
     from version_heads, generate_series(1, $2::int) n where assistant_id = $1`,
    [id, versions],
  );
  await db.query("update version_heads set number = $2 where assistant_id = $1", [id, versions]);
  await db.query("vacuum analyze assistant_versions");
}

/** Runs rounds of both sides, each in the reverse order of the previous one. The first one is a warm-up. */
async function interleaved(
  what: string,
  target: number,
  table: Table,
  rateOf: (side: Side) => Promise<number>,
): Promise<void> {
  const rounds: Rates[] = [];
  for (let number = 0; number <= ROUNDS; number++) {
    const rates: Rates = { ours: 0, baseline: 0 };
    for (const side of number % 2 === 0 ? SIDES : SIDES.toReversed()) rates[side] = await rateOf(side);
    if (number > 0) rounds.push(rates);
  }
  table.add({ what, target, ...ratio(rounds) });
}
