import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, link, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { hasCode } from "./files";
import { findPlace, makeDataDir, type RootWorkaround } from "./place";
import {
  createCluster,
  endChild,
  endPostmaster,
  freeCluster,
  type Launch,
  launchOnce,
  livePostmaster,
  liveServerOf,
  START_TIMEOUT_MS,
} from "./postmaster";
import { mistake } from "../../mistake";

export interface EmbeddedDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log: (line: string) => void;
  /** Further settings of PostgreSQL, `name=value`. */
  flags?: string[];
}

/** Facts about the database, stored in DATA_DIR/postgres.json. */
interface Note {
  readonly password: string;
  readonly port?: number;
  /** Location of the data if it is outside DATA_DIR. */
  readonly cluster?: string;
  readonly wayAsRoot?: RootWorkaround;
}

const POLL_INTERVAL_MS = 25;

/**
 * Starts the PostgreSQL that npm installed on `dataDir`, after initdb if it is empty. A PostgreSQL left behind by a
 * dead server is stopped first.
 */
export async function startEmbedded({
  dataDir,
  log,
  flags = [],
}: EmbeddedOptions): Promise<EmbeddedDatabase> {
  await makeDataDir(dataDir);
  const folder = await realpath(dataDir);
  const note = (await readNote(folder)) ?? (await firstNote(folder));
  const cluster = clusterOf(folder, note);
  await freeCluster(cluster, folder);
  const place = await findPlace(folder, { cluster, wayAsRoot: note.wayAsRoot }, log);
  const elsewhere = place.cluster === clusterOf(folder) ? undefined : place.cluster;
  const placed: Note = { ...note, cluster: elsewhere, wayAsRoot: place.wayAsRoot ?? note.wayAsRoot };
  await keepNote(folder, note, placed);
  await createCluster(place, note.password, !flags.includes("fsync=off"));
  await rotateLog(folder);
  const launch: Launch = { place, dataDir: folder, flags, log };
  const { child, port } = await start(launch, note.port);
  try {
    await keepNote(folder, placed, { ...placed, port });
    await createDatabase(note.password, port);
  } catch (error) {
    await endChild(child, place.cluster);
    throw error;
  }
  return { url: urlOf(note.password, port), stop: keepAlive(launch, child, port) };
}

/** URL of the embedded database of a running server on `dataDir`; undefined if none is running. */
export async function runningEmbedded(dataDir: string): Promise<string | undefined> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  const note = await readNote(folder);
  if (!note) return undefined;
  for (
    const until = performance.now() + START_TIMEOUT_MS;
    performance.now() < until;
    await sleep(POLL_INTERVAL_MS)
  ) {
    const postmaster = await livePostmaster(clusterOf(folder, note));
    if (!postmaster || !(await liveServerOf(postmaster))) return undefined;
    if (postmaster.ready) return urlOf(note.password, postmaster.port);
  }
  return undefined;
}

/** Restarts PostgreSQL when it ends unexpectedly. @returns a function that stops it for good */
function keepAlive(launch: Launch, first: ChildProcess, port: number): () => Promise<void> {
  let child = first;
  let reviving: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const revive = async () => {
    for (let pause = 100; !stopping; pause = Math.min(pause * 2, 5_000)) {
      launch.log("The embedded PostgreSQL stopped unexpectedly; restarting it.");
      try {
        await endPostmaster(launch.place.cluster); // may be running if only its guard was killed
        child = await launchOnce(launch, port);
        watch();
        return;
      } catch (error) {
        launch.log(String(error));
        await sleep(pause);
      }
    }
  };
  const watch = () => child.once("exit", () => (stopping ? undefined : (reviving = revive())));
  const stop = async () => {
    await reviving;
    await endChild(child, launch.place.cluster);
  };
  watch();
  return () => (stopping ??= stop());
}

/**
 * Starts PostgreSQL on its previous port if that is free; retries if another process takes the port or cluster
 * in the meantime.
 */
async function start(launch: Launch, formerPort?: number): Promise<{ child: ChildProcess; port: number }> {
  let wanted = formerPort;
  for (const until = performance.now() + START_TIMEOUT_MS; ; await sleep(8 * POLL_INTERVAL_MS)) {
    const port = await freePort(wanted);
    try {
      return { child: await launchOnce(launch, port), port };
    } catch (error) {
      await freeCluster(launch.place.cluster, launch.dataDir);
      const portTaken = /could not (bind|create any TCP)/.test(String(error));
      if (portTaken) wanted = undefined;
      const passing = portTaken || /lock file|shared memory block/.test(String(error));
      if (!passing || performance.now() > until) throw error;
    }
  }
}

/** Makes the first connection, and creates the database if an interrupted first start did not. */
async function createDatabase(password: string, port: number): Promise<void> {
  try {
    await query(urlOf(password, port), "select 1");
  } catch (error) {
    if (!hasCode(error, "3D000")) throw error;
    await query(urlOf(password, port, "postgres"), "create database parley");
  }
}

async function query(connectionString: string, text: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: START_TIMEOUT_MS });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** Sets sslmode, because pg would otherwise use a PGSSLMODE meant for another database. */
function urlOf(password: string, port: number, database = "parley"): string {
  return `postgres://parley:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

async function freePort(wanted = 0): Promise<number> {
  const probe = createServer().listen({ host: "127.0.0.1", port: wanted, exclusive: true });
  try {
    await once(probe, "listening");
    return (probe.address() as AddressInfo).port; // a string only for Unix sockets
  } catch (error) {
    if (wanted) return freePort();
    throw error;
  } finally {
    probe.close();
  }
}

/** Whether a server has been started on this folder before. */
export const hasEmbedded = async (dataDir: string): Promise<boolean> =>
  (await readNote(dataDir)) !== undefined;

const clusterOf = (dataDir: string, note?: Note) => note?.cluster ?? join(dataDir, "postgres");

async function readNote(dataDir: string): Promise<Note | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8")) as Note; // written by keepNote only
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw mistake(
      new Error(`The file postgres.json in DATA_DIR ${dataDir} cannot be read: ${String(error)}`, {
        cause: error,
      }),
    );
  }
}

/** Generates the password. If two servers start on an empty folder at once, both use the one written first. */
async function firstNote(dataDir: string): Promise<Note> {
  if (await stat(clusterOf(dataDir)).catch(() => undefined)) {
    throw mistake(
      new Error(
        `DATA_DIR ${dataDir} has a database (postgres) but not its password (postgres.json). Restore that file, or set DATA_DIR to an empty folder.`,
      ),
    );
  }
  const note: Note = { password: randomBytes(24).toString("hex") };
  const file = await writeBeside(dataDir, note);
  await link(file, join(dataDir, "postgres.json")).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  await rm(file);
  return (await readNote(dataDir)) ?? note;
}

async function keepNote(dataDir: string, before: Note, note: Note): Promise<void> {
  if (JSON.stringify(before) === JSON.stringify(note)) return;
  await rename(await writeBeside(dataDir, note), join(dataDir, "postgres.json"));
}

/**
 * Writes to a temporary name first, because a crash must not leave a partial file. Root changes its owner to that of
 * the folder.
 */
async function writeBeside(dataDir: string, note: Note): Promise<string> {
  const file = join(dataDir, `postgres.json.${randomBytes(4).toString("hex")}`);
  await writeFile(file, JSON.stringify(note, undefined, 2) + "\n", { mode: 0o600, flush: true });
  const { uid, gid } = await stat(dataDir);
  if (process.getuid?.() === 0) await chown(file, uid, gid);
  return file;
}

/** Keeps the log of the previous run beside the new one. */
async function rotateLog(dataDir: string): Promise<void> {
  await rename(join(dataDir, "postgres.log"), join(dataDir, "postgres.former.log")).catch(
    (error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    },
  );
}
