import { Client } from "pg";
import { SECRET_KEY } from "../bench";
import { start, type Running } from "../processes";
import { spread } from "../table";
import { fillPeers, FULL, type Size } from "./data";
import { postgraphileShots } from "./postgraphile/shots";
import { startPostGraphile } from "./postgraphile/start";
import { SERVERS, WORKLOADS, type Name, type Workload } from "./workloads";
import { wrk, type Measured } from "./wrk";

const ROUNDS = 3;
const SECONDS = 3;
/** Until V8 has compiled what requests run: a server answers the most dashboards after six seconds of them. */
const WARM_UP_SECONDS = 6;
const READY = /ready at (\S+) now/;

interface Peers {
  readonly ours: Running;
  readonly databaseUrl: string;
  readonly size?: Size;
}

type Servers = Readonly<Record<Name, Running>>;
type Rounds = Partial<Record<Name, Measured[]>>;

/**
 * Compares the busiest requests with other ways to serve them from the same database, by turns: three rounds of 3 s
 * with 32 connections. @returns the lines of a table
 */
export async function peers({ ours, databaseUrl, size = FULL }: Peers): Promise<string[]> {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const ids = await fillPeers(db, size, SECRET_KEY);
  const { rows } = await db.query<{ id: string }>("select id from organizations where is_default");
  await db.end();
  const organizationId = rows[0]!.id;
  const env = { DATABASE_URL: databaseUrl, ORGANIZATION_ID: organizationId };
  const one = (name: string) => start([`dist/bench/peers/${name}.js`], READY, env);
  const others = {
    l0: await one("l0"),
    l1: await one("l1"),
    apollo: await one("apollo"),
    postgraphile: await startPostGraphile(READY, env),
  };
  const servers: Servers = { ...others, rest: ours, graphql: ours };
  const shots = postgraphileShots(organizationId);
  const lines = [HEAD, LINE];
  for (const workload of WORKLOADS) {
    const { [workload.what]: postgraphile } = shots;
    const all = { ...workload, shots: { ...workload.shots, ...(postgraphile && { postgraphile }) } };
    const line = lineOf(all, await measured(all, servers, ids.slice(1))); // the first assistant has the most logs
    console.error(line); // printed as soon as it is measured
    lines.push(line);
  }
  await Promise.all(Object.values(others).map((server) => server.stop()));
  return lines;
}

async function measured(workload: Workload, servers: Servers, ids: readonly string[]): Promise<Rounds> {
  const names = SERVERS.filter((name) => workload.shots[name]);
  const shoot = (name: Name, seconds: number) =>
    wrk(servers[name].url, workload.shots[name]!, { key: SECRET_KEY, ids, seconds });
  for (const name of names) await shoot(name, WARM_UP_SECONDS);
  const rounds: Rounds = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      (rounds[name] ??= []).push(await shoot(name, SECONDS));
  return rounds;
}

const HEAD =
  "| request | REST, of L0 | GraphQL, of L0 | Express + pg, of L0 | PostGraphile, of L0 | Apollo, of L0 | REST ÷ L1 | GraphQL ÷ L1 | GraphQL ÷ PostGraphile | p99 ms: L1 | REST | GraphQL |";
const LINE = "|---|---|---|---|---|---|---|---|---|---|---|---|";

/**
 * Shares of requests per second, each the median of the rounds with the lowest and highest, and medians of the 99th percentiles.
 * A share below its target and a percentile above L1's are marked.
 */
function lineOf({ what, targets }: Workload, rounds: Rounds): string {
  const share = (name: Name, base: Name, least?: number) => {
    const own = rounds[name];
    if (!own || !rounds[base]) return "";
    const shares = own.map(({ perSecond }, round) => perSecond / rounds[base]![round]!.perSecond);
    const mark = least !== undefined && median(shares)! < least ? ` BELOW ${least}` : "";
    return spread(shares, 2) + mark;
  };
  const p99 = (name: Name) => median((rounds[name] ?? []).map((round) => round.p99));
  const slowest = (name: "rest" | "graphql") => {
    const [own, baseline] = [p99(name), p99("l1")];
    if (own === undefined) return "";
    return own.toFixed(0) + (baseline !== undefined && own > baseline ? " ABOVE L1" : "");
  };
  const cells = [
    what,
    share("rest", "l0"),
    share("graphql", "l0"),
    share("l1", "l0"),
    share("postgraphile", "l0"),
    share("apollo", "l0"),
    share("rest", "l1", targets.rest),
    share("graphql", "l1", targets.graphql),
    share("graphql", "postgraphile", what === "dashboard" ? 1.2 : undefined),
    ...[p99("l1")?.toFixed(0) ?? "", slowest("rest"), slowest("graphql")],
  ];
  return `| ${cells.join(" | ")} |`;
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
