import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./free-port";
import { until } from "./until";

/** Folder with the programs of a PostgreSQL with Citus, which test/citus/build.sh makes. */
export const CITUS_BIN = process.env.CITUS_BIN ?? "";
export const hasCitus = (): boolean => existsSync(join(CITUS_BIN, "initdb"));

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const identity = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {});
/** PostgreSQL gets no environment of the tests. */
const env = { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" };

const FLAGS = {
  ...{ listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: "300" },
  ...{ shared_preload_libraries: "citus", shared_buffers: "64MB", max_worker_processes: "64" },
  ...{ fsync: "off", synchronous_commit: "off", full_page_writes: "off", wal_level: "logical" },
  // Few shards keep tests fast; both workers have some.
  "citus.shard_count": "4",
  "citus.enable_statistics_collection": "off",
};

/** The address of a PostgreSQL in a cluster. */
interface Address {
  readonly port: number;
  /** URL of its database `postgres`, for the superuser. */
  readonly url: string;
}

/** A PostgreSQL of a cluster. */
export interface CitusNode extends Address {
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface CitusCluster {
  readonly coordinator: CitusNode;
  readonly workers: readonly CitusNode[];
  readonly nodes: readonly CitusNode[];
  stop(): Promise<void>;
}

type Flags = Readonly<Record<string, string | number>>;

/** Starts a coordinator and workers without databases of their own. */
export async function startCitus(workerCount = 2, flags: Flags = {}): Promise<CitusCluster> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "parley-citus-"));
  own(folder);
  const names = ["coordinator", ...Array.from({ length: workerCount }, (_, n) => `worker${n + 1}`)];
  const nodes = await Promise.all(names.map((name) => startNode(join(folder, name), { ...FLAGS, ...flags })));
  const [coordinator, ...workers] = nodes as [CitusNode, ...CitusNode[]];
  return {
    ...{ coordinator, workers, nodes },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function own(folder: string): void {
  const { uid, gid } = identity();
  if (uid !== undefined) chownSync(folder, uid, gid!);
}

async function startNode(folder: string, flags: Flags): Promise<CitusNode> {
  mkdirSync(folder, { mode: 0o700 });
  own(folder);
  const initdb = ["-D", folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
  await promisify(execFile)(join(CITUS_BIN, "initdb"), initdb, { ...identity(), env, cwd: "/" });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  const start = async () => {
    // After a crash its memory may be in use for a moment.
    child = await until(() => run(folder, url, { ...flags, port }));
  };
  await start();
  return { port, url, start, kill: () => end("SIGKILL"), stop: () => end("SIGINT") };
}

async function run(folder: string, url: string, settings: Flags): Promise<ChildProcess> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const path = process.env.TEST_CITUS_LOG ?? `${folder}.log`;
  const log = openSync(path, "a");
  const child = spawn(join(CITUS_BIN, "postgres"), ["-D", folder, ...flags], {
    ...{ ...identity(), env, cwd: "/", stdio: ["ignore", "ignore", log] },
  });
  closeSync(log);
  await until(async () => child.exitCode !== null || queryAt(url, "select 1").then(() => true));
  if (child.exitCode !== null)
    throw new Error(`PostgreSQL ended with ${child.exitCode}: ${readFileSync(path, "utf8").slice(-4000)}`);
  return child;
}

/** The URL of another database on the same server. */
export const databaseAt = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

/**
 * Creates a database on all nodes, of which the first is the coordinator, and makes them a cluster of Citus.
 * @returns the URL at the coordinator
 */
export async function createCluster(
  { nodes }: { readonly nodes: readonly Address[] },
  name: string,
): Promise<string> {
  const [coordinator, ...workers] = nodes as readonly [Address, ...Address[]];
  await Promise.all(
    nodes.map(async ({ url }) => {
      await queryAt(url, `create database ${name}`);
      await queryAt(databaseAt(url, name), "create extension citus");
    }),
  );
  const url = databaseAt(coordinator.url, name);
  await queryAt(url, `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
  for (const { port } of workers) await queryAt(url, `select citus_add_node('127.0.0.1', ${port})`);
  return url;
}

/** Runs one statement on a connection of its own. */
export async function queryAt(url: string, text: string): Promise<void> {
  await rowsAt(url, text);
}

/** Like `queryAt`. @returns its rows */
export async function rowsAt(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<object>(text).finally(() => client.end());
  return rows;
}
