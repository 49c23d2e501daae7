import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../support/free-port";
import { HEADERS, type Bench } from "../bench";
import { cpuBelow, cpuOf, postmasterOf } from "../cpu";
import { LoadGenerator, type Running } from "../processes";
import { spread } from "../table";

/** Short rounds in turn, so that other load of the machine affects all sides equally. */
const ROUNDS = 15;
/** To each server. */
const REQUESTS = 1_500;
/** Over both servers. */
const CONNECTIONS = 32;
/** Above what a server answers in a second, so that nothing is refused. */
const POINTS = "20000";
/** Beside the other built programs of the benchmark, so that the packages are no dependencies of the project. */
const FOLDER = "dist/bench/limits";
const PRELOADED = "./test/bench/limits/flexible.cjs";
/** The compiled modules on all sides: the package has them in one file. */
const MAIN = "dist/src/main.js";

const SIDES = {
  none: "no limit",
  ours: "Parley's limits",
  postgres: "rate-limiter-flexible in PostgreSQL",
  redis: "rate-limiter-flexible in Redis",
} as const;
type Side = keyof typeof SIDES;
const NAMES = Object.keys(SIDES) as Side[];

type Pairs = Readonly<Record<Side, readonly Running[]>>;

/**
 * Compares pairs of servers with one database that count requests together: not at all, as Parley does, and with
 * rate-limiter-flexible, which asks a store before each request. By turns, each round in the other order.
 */
export async function limits(bench: Bench): Promise<void> {
  const redis = await startRedis();
  const loads = [new LoadGenerator(), new LoadGenerator()] as const;
  const running: Running[] = [];
  try {
    await install();
    const path = `/rest/v1/assistants/${bench.ids[100]!}`;
    const pairs = await startPairs(bench, redis.url, running);
    for (const side of NAMES) await check(side, pairs[side][0]!.url + path);
    const postmaster = await postmasterOf(bench.databaseUrl);
    const run = async (side: Side): Promise<Measured> => {
      const spent = () =>
        [...pairs[side], redis].reduce((sum, { pid }) => sum + cpuOf(pid), cpuBelow(postmaster));
      const before = spent();
      const sent = pairs[side].map(({ url }, number) =>
        loads[number]!.send({
          ...{ origin: url, method: "GET", path, headers: HEADERS },
          ...{ requests: REQUESTS, connections: CONNECTIONS / loads.length },
        }),
      );
      const seconds = Math.max(...(await Promise.all(sent)));
      const all = REQUESTS * loads.length;
      return { perSecond: all / seconds, cpu: (1_000_000 * (spent() - before)) / all };
    };
    console.log(tableOf(await measure(run)));
  } finally {
    await Promise.all([...running, ...loads, redis].map((each) => each.stop()));
  }
}

/** @param running gets each server that has started */
async function startPairs(
  { serve, databaseUrl, encryptionKeys }: Bench,
  redis: string,
  running: Running[],
): Promise<Pairs> {
  const flexible = (store: string) => ({ LIMITS_STORE: store, LIMITS_FOLDER: FOLDER, LIMITS_POINTS: POINTS });
  const kinds: Record<Side, Record<string, string>> = {
    none: {},
    ours: { RATE_LIMIT_LOOPBACK: "true", RATE_LIMIT_ORGANIZATION: POINTS },
    postgres: flexible(databaseUrl),
    redis: flexible(redis),
  };
  const settings = {
    ...{ DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: encryptionKeys(), HOST: "127.0.0.1" },
    ...{ WORKER: "off", DATABASE_POOL: "5" }, // so that all servers have enough connections
  };
  const pairs: Record<Side, Running[]> = { none: [], ours: [], postgres: [], redis: [] };
  for (const side of [...NAMES, ...NAMES]) {
    const program = "LIMITS_STORE" in kinds[side] ? ["--require", PRELOADED, MAIN] : [MAIN];
    const server = await serve({ ...settings, ...kinds[side] }, program);
    running.push(server);
    pairs[side].push(server);
  }
  return pairs;
}

/** @throws Error unless the answer tells what is left of the limit, if it has one */
async function check(side: Side, url: string): Promise<void> {
  const { status, headers } = await fetch(url, { headers: HEADERS });
  if (status !== 200 || headers.has("RateLimit") !== (side !== "none"))
    throw new Error(`${SIDES[side]}: ${status}, RateLimit: ${headers.get("RateLimit")}`);
}

interface Measured {
  readonly perSecond: number;
  /** CPU time of servers, PostgreSQL and Redis per request, in µs: other load of the machine changes it less. */
  readonly cpu: number;
}
type Round = Record<Side, Measured>;

async function measure(run: (side: Side) => Promise<Measured>): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let number = 0; number <= ROUNDS; number++) {
    const round = {} as Round;
    for (const side of number % 2 === 0 ? NAMES : NAMES.toReversed()) round[side] = await run(side);
    if (number > 0) rounds.push(round); // the first one is a warm-up
  }
  return rounds;
}

/** Medians with the lowest and highest, and shares of the pair without limits in the same round. */
function tableOf(rounds: readonly Round[]): string {
  const cell = (digits: number, of: (round: Round) => number) => spread(rounds.map(of), digits);
  const lines = NAMES.map((side) => {
    const rate = cell(0, (round) => round[side].perSecond);
    const share = cell(2, (round) => round[side].perSecond / round.none.perSecond);
    const cpu = cell(0, (round) => round[side].cpu);
    const cpuShare = cell(2, (round) => round[side].cpu / round.none.cpu);
    return `| ${SIDES[side]} | ${rate} | ${share} | ${cpu} | ${cpuShare} |`;
  });
  const head = "| Counted by | Requests/s | Of no limit | CPU time, µs a request | Of no limit |";
  return [head, "|---|---|---|---|---|", ...lines].join("\n");
}

async function install(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  cpSync("test/bench/limits/package.json", join(FOLDER, "package.json"));
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--prefer-offline"];
  await promisify(execFile)("npm", ["install", ...options], { cwd: FOLDER });
}

/** A Redis that keeps nothing on disk. */
async function startRedis(): Promise<Omit<Running, "startSeconds">> {
  const folder = mkdtempSync(join(tmpdir(), "parley-redis-"));
  const port = String(await freePort());
  const options = [
    "--port",
    port,
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const child = spawn("redis-server", options, { stdio: ["ignore", "pipe", "inherit"] });
  const stop = async () => {
    if (child.exitCode === null && child.kill()) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(child);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop };
}

const ready = (child: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new Error("The comparison needs Redis: apt-get install redis-server")
          : error,
      ),
    );
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("Ready to accept connections")) resolve();
    });
  });
