import { Client } from "pg";
import { HEADERS, type Bench } from "./bench";
import { Patches } from "./patches";
import { interleaved, SIDES, type Rates, type Side } from "./rounds";
import type { Table } from "./table";

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
  const first = new Patches(ours.url, ids.slice(CONNECTIONS, CONNECTIONS + 2)); // a change stores the first version
  await first.rate(2, () => ({ temperature: 0.5 }));
  await first.stop();
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
    await interleaved(`${what} of ${MANY} versions, beside ${FEW}`, 0.9, ROUNDS, table, async (side) => {
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
  const patches = { ours: new Patches(urls.ours, ids), baseline: new Patches(urls.baseline, ids) };
  const made: Rates = { ours: 0, baseline: 0 };
  await interleaved(`${what} with its version, beside one without`, 0.85, ROUNDS, table, async (side) => {
    const before = await count(db, ids);
    const rate = await patches[side].rate(CHANGES, body);
    made[side] += (await count(db, ids)) - before;
    return rate;
  });
  await Promise.all(SIDES.map((side) => patches[side].stop()));
  const expected = CHANGES * (ROUNDS + 1);
  if (made.baseline !== 0 || made.ours < expected * 0.9)
    throw new Error(`${expected} changes have made ${made.ours} and ${made.baseline} versions.`);
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
