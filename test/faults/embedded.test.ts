import { afterEach, expect, test } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import {
  type EmbeddedDatabase,
  runningEmbedded,
  startEmbedded,
} from "../../src/platform/database/embedded/embedded";
import { remedyFor } from "../../src/platform/database/embedded/remedy";
import { roomiest } from "../support/roomiest";
import { until } from "../support/until";

const ROOT = resolve(__dirname, "../..");
const FAST = ["fsync=off"]; // the machine stays up in these tests, only processes die
const isRoot = process.getuid?.() === 0;
const afterwards: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of afterwards.splice(0).reverse()) await step();
});

test("a second start finds the data of the first, with the same address and password", async () => {
  const dataDir = await emptyFolder();
  const first = await start(dataDir);
  await query(first.url, "create table notes (text text)", "insert into notes values ('Égal')");
  await first.stop();
  await first.stop();
  expect(await runningEmbedded(dataDir)).toBeUndefined();

  const second = await start(dataDir);
  expect(await query(second.url, "select text from notes where text ilike 'éGAL'")).toEqual([
    { text: "Égal" },
  ]);
  expect(second.url).toBe(first.url);
  expect(await runningEmbedded(dataDir)).toBe(second.url);
  expect((await stat(join(dataDir, "postgres.json"))).mode & 0o077).toBe(0);
});

test("kill -9 of the server stops its PostgreSQL within seconds and loses nothing committed", async () => {
  const dataDir = await emptyFolder();
  const { server, url } = await startServer(dataDir);
  const client = await connect(url);
  await client.query("create table notes (number int)");
  let committed = 0;
  const writing = (async () => {
    for (let number = 1; ; number++) {
      await client.query("insert into notes values ($1)", [number]);
      committed = number;
    }
  })().catch(() => undefined);
  const pid = await postmasterOf(dataDir);
  await until(() => committed >= 50);
  server.kill("SIGKILL");
  await writing;
  await until(() => !isAlive(pid));
  expect(await readdir(join(dataDir, "postgres"))).not.toContain("postmaster.pid");

  const { url: again } = await start(dataDir);
  const [row] = await query(again, "select max(number) as last, count(*)::int from notes");
  expect(row?.last).toBeGreaterThanOrEqual(committed);
  expect(row?.count).toBe(row?.last);
});

test("a start right after kill -9 waits for the old PostgreSQL to stop", async () => {
  const dataDir = await emptyFolder();
  const { server } = await startServer(dataDir);
  const pid = await postmasterOf(dataDir);
  server.kill("SIGKILL");
  await once(server, "exit");
  const { url } = await start(dataDir);
  expect(isAlive(pid)).toBe(false);
  expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a second server on the same folder is refused without disturbing the first", async () => {
  const dataDir = await emptyFolder();
  const { server, url } = await startServer(dataDir);
  await expect(start(dataDir)).rejects.toThrow(
    `DATA_DIR ${dataDir} is in use by another server (process ${server.pid})`,
  );
  expect(await runningEmbedded(dataDir)).toBe(url);
  expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("only one of several servers that start on an empty folder at once gets it", async () => {
  const dataDir = await emptyFolder();
  const starts = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)]);
  const refusals = starts.flatMap((it) => (it.status === "rejected" ? [String(it.reason)] : []));
  expect(refusals).toEqual(Array(2).fill(expect.stringContaining("is in use by another server")));
});

test("a PostgreSQL that crashes under its server is restarted at the same address", async () => {
  const dataDir = await emptyFolder();
  const { url } = await start(dataDir);
  await query(url, "create table notes (text text)");
  process.kill(await postmasterOf(dataDir), "SIGKILL");
  await until(() => query(url, "select * from notes").then((rows) => rows.length === 0));
});

test("a stale postmaster.pid with the process id of another program does not prevent a start", async () => {
  const dataDir = await emptyFolder();
  await (await start(dataDir)).stop();
  const stale = [process.pid, join(dataDir, "postgres"), 1, 5432, "", "127.0.0.1", "1 1", "ready"];
  await writeFile(join(dataDir, "postgres", "postmaster.pid"), stale.join("\n") + "\n", { mode: 0o600 });
  expect(await runningEmbedded(dataDir)).toBeUndefined();
  const { url } = await start(dataDir);
  expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("files of another version of PostgreSQL, and a folder that others may enter, are refused with what to do", async () => {
  const dataDir = await emptyFolder();
  const { stop } = await start(dataDir);
  await stop();
  const version = join(dataDir, "postgres", "PG_VERSION");
  const own = await readFile(version, "utf8");
  await writeFile(version, "99\n");
  await expect(start(dataDir)).rejects.toThrow(/are of PostgreSQL 99, .*npm run restore.* an empty DATA_DIR/);
  await writeFile(version, own);
  await chmod(join(dataDir, "postgres"), 0o777);
  await expect(start(dataDir)).rejects.toThrow(/refuses\. Run: chmod 700 '.*postgres'/);
});

test("a setting that PostgreSQL refuses is reported in PostgreSQL's own words", async () => {
  const starting = startEmbedded({
    dataDir: await emptyFolder(),
    log: () => undefined,
    flags: ["fsync=perhaps"],
  });
  await expect(starting).rejects.toThrow('parameter "fsync" requires a Boolean value');
});

test("a full disk, which has no room for PostgreSQL's own words, is reported", async () => {
  const withoutSpace = "/proc/self"; // a file system without free space
  expect(await remedyFor("", withoutSpace)).toContain("The disk is full. Free space on the disk of DATA_DIR");
  expect(await remedyFor("", await emptyFolder())).toBe("");
});

if (isRoot) {
  test("as root it works in a folder that only root can enter, without changing its mode", async () => {
    const dataDir = await emptyFolder(0o700);
    await (await start(dataDir)).stop();
    const { url } = await start(dataDir);
    expect(await query(url, "select current_user as name")).toEqual([{ name: "parley" }]);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  test("as root it runs as nobody in a folder that nobody can enter, without changing its mode", async () => {
    const dataDir = await emptyFolder(0o711);
    const { url } = await start(dataDir);
    expect(await query(url, "select current_user as name")).toEqual([{ name: "parley" }]);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711);
    const note: unknown = JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8"));
    // The user "nobody" cannot reach the programs of a checkout under /root.
    const programs = await isOpenToAll(ROOT);
    expect(note).toMatchObject({ wayAsRoot: programs ? "nobody" : expect.stringMatching(/unshare|system/) });
  });
} else {
  test("as an ordinary user it runs as that user in a folder that only the user can enter", async () => {
    const dataDir = await emptyFolder(0o700);
    const { url } = await start(dataDir);
    expect(await query(url, "select current_user as name")).toEqual([{ name: "parley" }]);
    expect((await stat(join(dataDir, "postgres"))).uid).toBe(process.getuid?.());
  });
}

async function emptyFolder(mode = 0o700): Promise<string> {
  const folder = await mkdtemp(join(roomiest(), "parley-embedded-"));
  await chmod(folder, mode);
  afterwards.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log: () => undefined, flags: FAST });
  afterwards.push(() => database.stop());
  return database;
}

/** Starts a process that keeps a database open until it is killed. */
async function startServer(dataDir: string): Promise<{ server: ChildProcess; url: string }> {
  const code = `require(${JSON.stringify(join(ROOT, "dist/src/platform/database/embedded/embedded.js"))})
    .startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: () => {}, flags: ${JSON.stringify(FAST)} })
    .then(({ url }) => { console.log(url); setInterval(() => {}, 1000); });`;
  const server = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  afterwards.push(async () => {
    if (!server.kill("SIGKILL")) return;
    const pid = await postmasterOf(dataDir);
    await until(() => !isAlive(pid));
  });
  const [url] = (await once(createInterface(server.stdout), "line")) as [string];
  return { server, url };
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined); // some tests take its database away
  await client.connect();
  return client;
}

async function query(url: string, ...texts: string[]): Promise<Record<string, unknown>[]> {
  const client = await connect(url);
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of texts) rows = (await client.query<Record<string, unknown>>(text)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

async function postmasterOf(dataDir: string): Promise<number> {
  return Number.parseInt(
    await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8").catch(() => "0"),
  );
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const open = ((await stat(folder)).mode & 0o001) !== 0;
  return open && (folder === "/" || isOpenToAll(resolve(folder, "..")));
}
