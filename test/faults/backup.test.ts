import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { runningEmbedded } from "../../src/platform/database/embedded/embedded";
import { announceBackup } from "../../src/platform/database/copies/backup-lock";
import { say } from "../support/factories";
import { upload } from "../support/files";
import { contentsOf, elsewhere, isEmpty, query, waitingInstallation } from "../support/installation";
import {
  afterTest,
  afterTests,
  emptyDatabase,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startProgram,
  startServer,
} from "../support/server";
import { proxyTo } from "../support/proxy";
import { until } from "../support/until";
import { rows } from "../support/suite";

const LONG = 5 * SERVER_TIMEOUT_MS;

async function succeed(program: string, env: Record<string, string>, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(`cli/${program}`, env, ...options);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

async function backedUp(over = afterTest) {
  const installation = await waitingInstallation(over);
  const folder = join(emptyFolder(over), "backup");
  const said = await succeed("backup", installation.env, folder);
  return { ...installation, folder, said };
}

/** A backup that no test changes, with its installation. */
let shared: Awaited<ReturnType<typeof backedUp>>;
beforeAll(async () => void (shared = await backedUp(afterTests)), LONG);

describe("a backup of a running installation", () => {
  test(
    "restores every row, waiting job and file into an empty installation, where all work waits for the release",
    async () => {
      const { env, api, receiver, folder, said, chatId, callId, fileId, assistantId } = await backedUp();
      expect(said).toContain("1 file.");
      const before = await contentsOf(env.DATABASE_URL!);
      await say(api, chatId, "Said after the backup.", "USER");

      const copy = elsewhere(env, await emptyDatabase());
      expect(await succeed("restore", copy, folder)).toMatch(/Restored .*HELD/s);
      expect(await contentsOf(copy.DATABASE_URL!)).toEqual(before);
      const analyzed = `select distinct tablename from pg_stats where tablename in ('chats', 'events', 'messages')`;
      expect(await query(copy.DATABASE_URL!, analyzed)).toHaveLength(3); // so that the first requests have good plans

      const server = await startServer({ ...copy, WORKER: "on" });
      expect(server.stdout()).toContain("HELD: restored from a backup of");
      expect(await server.api.get("/health/ready", 200)).toMatchObject({ status: "ok", held: true });
      expect((await server.api.request("GET", "/metrics")).text).toContain("\nparley_held 1\n");
      expect((await server.api.get(`/rest/v1/assistants/${assistantId}`, 200)).name).toContain("Égal");
      const { url } = (await server.api.get(`/rest/v1/files/${fileId}/download`, 200)) as { url: string };
      expect(await (await fetch(url)).text()).toBe("what a file holds");
      const queued = { assistantId, phoneNumber: "+14155550124" };
      const { id: later } = (await server.api.post("/rest/v1/call/phone", queued, 200)) as { id: string };
      const statusOf = async (id: string) =>
        (
          await query<{ status: string }>(copy.DATABASE_URL!, "select status from chats where id = $1", [id])
        )[0]!.status;
      expect([await statusOf(callId), await statusOf(later)]).toEqual(["queued", "queued"]);
      expect(receiver.received).toEqual([]);

      expect(await succeed("release", copy)).toContain("Released");
      await until(async () => (await statusOf(callId)) === "ended" && (await statusOf(later)) === "ended");
      await until(
        async () =>
          (
            await query(
              copy.DATABASE_URL!,
              "select 1 from messages where chat_id = $1 and role = 'ASSISTANT'",
              [chatId],
            )
          ).length === 1,
      );
      await until(() => receiver.received.length > 5);
      expect(await server.api.get("/health/ready", 200)).not.toHaveProperty("held");
      expect(await succeed("release", copy)).toContain("Nothing is held");
    },
    LONG,
  );

  test(
    "can be restored without repeating anything: pending work is dropped, later work is done",
    async () => {
      const { env, receiver, folder, chatId, callId } = shared;
      const copy = elsewhere(env, await emptyDatabase());
      await succeed("restore", copy, folder);
      const held = await startServer(copy);
      await say(held.api, chatId, "Asked while it was held.", "USER");
      await held.end("SIGTERM");
      expect(await succeed("release", copy, "--drop")).toMatch(
        /Dropped: \d+ deliver(y|ies), 0 text messages, 1 call,/,
      );
      const [call] = await query(copy.DATABASE_URL!, "select status, ended_reason from chats where id = $1", [
        callId,
      ]);
      expect(call).toEqual({ status: "ended", ended_reason: "dropped-after-restore" });
      const server = await startServer({ ...copy, WORKER: "on" });
      const answers = "select from messages where chat_id = $1 and role = 'ASSISTANT' and content <> ''";
      const answersBefore = (await query(env.DATABASE_URL!, answers, [chatId])).length;
      await until(
        async () => (await query(copy.DATABASE_URL!, answers, [chatId])).length > answersBefore, // asked while held
      );
      const messageId = await say(server.api, chatId, "And now?", "USER");
      await until(() =>
        receiver.received.some(({ text }) => text.includes(messageId) || text.includes("And now?")),
      );
      const events = receiver.received.map(({ headers }) => headers["webhook-id"] as string);
      const old = await query<{ id: string }>(env.DATABASE_URL!, "select id from events");
      expect(events.filter((id) => old.some((event) => event.id === id))).toEqual([]);
    },
    LONG,
  );
});

describe("a restore changes nothing if", () => {
  type Sabotage = (folder: string, env: Record<string, string>) => void | Record<string, string>;
  const damage = (path: string) => (folder: string) => appendFileSync(join(folder, path), "x");
  const changed = (from: RegExp, to: string) => (folder: string) => {
    const file = join(folder, "manifest.json");
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  };
  const cases: [string, Sabotage, RegExp][] = [
    [
      "the encryption keys differ",
      () => ({ ENCRYPTION_KEYS: "x".repeat(40) }),
      /ENCRYPTION_KEYS lacks the key/,
    ],
    ["a table was changed", damage("tables/messages.copy.gz"), /damaged: tables\/messages/],
    ["the jobs were changed", damage("jobs.copy.gz"), /damaged: jobs/],
    ["the list of files was changed", damage("files.ndjson"), /damaged: files\.ndjson/],
    [
      "a file was changed",
      (folder) => {
        const organization = readdirSync(join(folder, "files"))[0]!;
        const [file] = readdirSync(join(folder, "files", organization));
        writeFileSync(join(folder, "files", organization, file!), "what a file holdz");
      },
      /damaged: files\//,
    ],
    [
      "a table is missing",
      (folder) => rmSync(join(folder, "tables/chats.copy.gz")),
      /damaged: tables\/chats/,
    ],
    ["the manifest was changed", changed(/"rows"|"bytes": \d+/, '"bytes": 1'), /damaged: manifest/],
    ["the manifest is missing", (folder) => rmSync(join(folder, "manifest.json")), /not a complete backup/],
    ["it was written by a newer version", changed(/"format": 1/, '"format": 2'), /newer version of Parley/],
    [
      "the database is not empty",
      (_, env) => ({ DATABASE_URL: env.DATABASE_URL! }),
      /database is not empty: it contains/,
    ],
    ["the folder of files is not empty", (_, env) => ({ DATA_DIR: env.DATA_DIR! }), /files is not empty/],
    [
      "database and files are in use",
      (_, env) => ({ DATA_DIR: env.DATA_DIR!, DATABASE_URL: env.DATABASE_URL! }),
      /files is not empty[^]*database is not empty/,
    ],
  ];

  test(
    "the backup, the settings or the target is wrong",
    async () => {
      const { env, folder } = shared;
      const target = elsewhere(env, await emptyDatabase());
      const before = await contentsOf(env.DATABASE_URL!);
      for (const [name, spoil, expected] of rows(cases, 4).rows) {
        const spoiled = join(emptyFolder(), "spoiled");
        cpSync(folder, spoiled, { recursive: true });
        const other = spoil(spoiled, env) ?? {};
        const { code, stderr } = await runToEnd("cli/restore", { ...target, ...other }, spoiled);
        expect({ name, code, stderr }).toMatchObject({
          name,
          code: 1,
          stderr: expect.stringMatching(expected),
        });
        expect({ name, empty: await isEmpty(target.DATABASE_URL!) }).toEqual({ name, empty: true });
        expect(existsSync(join(target.DATA_DIR!, "files"))).toBe(false);
      }
      expect(await contentsOf(env.DATABASE_URL!)).toEqual(before);
      expect((await runToEnd("cli/backup", env, folder)).stderr).toContain("is not empty");
    },
    2 * LONG,
  );
});

test(
  "a restore into an external database uses the keys in the backup, and says what to set afterwards",
  async () => {
    const folder = join(emptyFolder(), "with keys");
    await succeed("backup", shared.env, folder, "--include-keys");
    const copy = elsewhere(shared.env, await emptyDatabase());
    const { ENCRYPTION_KEYS: keys, ...unset } = copy;
    const restore = (env: Record<string, string>, from: string) => runToEnd("cli/restore", env, from);
    expect((await restore(unset, shared.folder)).stderr).toContain("does not include encryption keys");
    const wrong = await restore({ ...copy, ENCRYPTION_KEYS: "x".repeat(40) }, folder);
    expect(wrong.stderr).toContain(`the original installation, which are in ${folder}/encryption-keys.`);
    expect(await isEmpty(copy.DATABASE_URL!)).toBe(true);
    expect(await succeed("restore", unset, folder)).toContain(
      `set ENCRYPTION_KEYS to the content of ${folder}/encryption-keys.`,
    );
    expect(readFileSync(join(folder, "encryption-keys"), "utf8")).toBe(keys);
    await (await startServer(copy)).api.get("/rest/v1/organization/keys", 200);
    expect((await runToEnd("main", unset)).stderr).toContain("ENCRYPTION_KEYS must be set");
  },
  LONG,
);

test(
  "a restore refuses a DATA_DIR that has a file with other keys, before it changes anything",
  async () => {
    const DATA_DIR = emptyFolder();
    const file = join(DATA_DIR, "encryption-keys");
    writeFileSync(file, "k".repeat(40));
    const { DATABASE_URL: _, ...embedded } = shared.env;
    const { code, stderr } = await runToEnd("cli/restore", { ...embedded, DATA_DIR }, shared.folder);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`The file ${file} has other keys than the backup`),
    ]);
    expect(readdirSync(DATA_DIR)).toEqual(["encryption-keys"]);
    expect(readFileSync(file, "utf8")).toBe("k".repeat(40));
  },
  LONG,
);

test(
  "an interrupted restore keeps servers from starting, and the next restore starts over",
  async () => {
    const { env, folder } = shared;
    const copy = elsewhere(env, await emptyDatabase());
    await succeed("restore", copy, folder);
    await query(copy.DATABASE_URL!, "update holds set finished_at = null");
    expect((await runToEnd("main", copy)).stderr).toContain("was interrupted");
    const other = join(copy.DATA_DIR!, "files", "other");
    writeFileSync(other, "of somebody else");
    expect((await runToEnd("cli/restore", copy, folder)).stderr).toContain("is not empty: it contains other");
    rmSync(other);
    await succeed("restore", copy, folder);
    expect(await contentsOf(copy.DATABASE_URL!)).toEqual(await contentsOf(env.DATABASE_URL!));
  },
  LONG,
);

/** Sessions of the database that wait for a lock. */
const WAITING =
  "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

test.each(["holds", "organizations"])(
  "a restore that is killed while it clears the remains of another, at the table %s, can be repeated",
  async (table) => {
    const { env, folder } = shared;
    const copy = elsewhere(env, await emptyDatabase());
    await succeed("restore", copy, folder);
    await query(copy.DATABASE_URL!, "update holds set finished_at = null");
    const reader = new pg.Client(copy.DATABASE_URL!);
    await reader.connect();
    afterTest(() => reader.end());
    await reader.query(`begin; lock table ${table} in access share mode`);
    const { kill } = startProgram("cli/restore", copy, folder);
    await until(async () => (await query(copy.DATABASE_URL!, WAITING)).length > 0);
    await kill();
    await reader.query("rollback");
    await succeed("restore", copy, folder);
    expect(await contentsOf(copy.DATABASE_URL!)).toEqual(await contentsOf(env.DATABASE_URL!));
  },
  LONG,
);

test(
  "a restore that loses its database says what has happened and what is left, and can be repeated",
  async () => {
    const { env, folder } = shared;
    const url = await emptyDatabase();
    const proxy = await proxyTo(url);
    afterTest(() => proxy.stop());
    const other = new pg.Client(url);
    await other.connect();
    await other.query("begin; create schema graphile_worker"); // which the restore creates, too
    const copy = elsewhere(env, proxy.url);
    const { ended } = startProgram("cli/restore", copy, folder);
    await until(async () => (await query(url, WAITING)).length > 0);
    proxy.leave();
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/broke off: .*try again\.\nThe database contains a part .*Run the command again/),
    ]);
    await other.end();
    proxy.comeBack();
    await succeed("restore", copy, folder);
    expect(await contentsOf(url)).toEqual(await contentsOf(env.DATABASE_URL!));
  },
  LONG,
);

test(
  "a restore into the database of a server that builds an index says that it is not empty",
  async () => {
    const { env, folder } = shared;
    const server = new pg.Client(env.DATABASE_URL!);
    await server.connect();
    afterTest(() => server.end());
    await server.query("select pg_advisory_lock(7265781215)"); // of online steps
    const { code, stderr } = await runToEnd("cli/restore", { ...env, DATA_DIR: emptyFolder() }, folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("The database is not empty")]);
  },
  LONG,
);

test(
  "an interrupted restore into the embedded database is named as such before its keys are asked for",
  async () => {
    const { env, folder } = shared;
    const copy = { DATA_DIR: emptyFolder(), PORT: "0" };
    const restore = () => runToEnd("cli/restore", { ...copy, ENCRYPTION_KEYS: env.ENCRYPTION_KEYS! }, folder);
    expect(await restore()).toMatchObject({ code: 0 });
    const server = await startServer(copy);
    await query((await runningEmbedded(copy.DATA_DIR))!, "update holds set finished_at = null");
    await server.end("SIGTERM");
    rmSync(join(copy.DATA_DIR, "encryption-keys"));
    expect((await runToEnd("main", copy)).stderr).toContain("was interrupted");
  },
  LONG,
);

test(
  "of two restores into one database at once, one loads its backup and the other changes nothing",
  async () => {
    const { env, folder } = shared;
    const DATABASE_URL = await emptyDatabase();
    const targets = [elsewhere(env, DATABASE_URL), elsewhere(env, DATABASE_URL)];
    const results = await Promise.all(targets.map((copy) => runToEnd("cli/restore", copy, folder)));
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(results.find(({ code }) => code === 1)!.stderr).toMatch(
      /(Another restore .* is running|database is not empty).*Nothing was changed/s,
    );
    expect(await contentsOf(DATABASE_URL)).toEqual(await contentsOf(env.DATABASE_URL!));
  },
  LONG,
);

// From here on, tests change the installation.

test(
  "repeats erasures recorded in a newer backup",
  async () => {
    const { env, api, assistantId } = shared;
    const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    const begin = async (uniqueId: string) =>
      (await api.gql(start, { input: { assistantId, uniqueId } })).startChat.id as string;
    const [gone, stays] = [await begin("ada-lovelace"), await begin("bea")];
    const [older, newer] = [join(emptyFolder(), "older"), join(emptyFolder(), "newer")];
    await succeed("backup", env, older);
    await api.gql('mutation { forgetEndUser(uniqueId: "ada-lovelace") { id } }');
    await succeed("backup", env, newer);
    expect(readFileSync(join(newer, "manifest.json"), "utf8")).not.toContain("ada-lovelace");

    const copy = elsewhere(env, await emptyDatabase());
    expect(await succeed("restore", copy, older, "--erasures", newer)).toMatch(
      /Erasures to repeat from the backup of .*: 1\./,
    );
    await startServer({ ...copy, WORKER: "on" });
    const left = async () =>
      (
        await query<{ id: string }>(copy.DATABASE_URL!, "select id from chats where id = any($1)", [
          [gone, stays],
        ])
      ).map(({ id }) => id);
    expect(await left()).toHaveLength(2);
    await succeed("release", copy, "--drop");
    await until(async () => (await left()).length === 1);
    expect(await left()).toEqual([stays]);
  },
  LONG,
);

test(
  "a file deleted during a backup keeps its content until the backup has finished",
  async () => {
    const { env, api } = shared;
    const { id: fileId } = (await upload(api, { content: "deleted soon" })) as { id: string };
    const folder = join(env.DATA_DIR!, "files");
    const kept = () => readdirSync(folder, { recursive: true }).some((name) => String(name).endsWith(fileId));
    const backup = new pg.Client({ connectionString: env.DATABASE_URL });
    await backup.connect();
    afterTest(() => backup.end());
    await announceBackup(backup);
    expect((await runToEnd("cli/backup", env, join(emptyFolder(), "second"))).stderr).toContain(
      "Another backup of this database is running",
    );
    await api.delete(`/rest/v1/files/${fileId}`, 200);
    expect(kept()).toBe(true);
  },
  LONG,
);

test(
  "a backup without the files of the installation is refused; a single file that is damaged or missing is listed",
  async () => {
    const { env, api } = shared;
    const { id } = (await upload(api, { content: "lost" })) as { id: string };
    const backup = (over: Record<string, string>) =>
      runToEnd("cli/backup", { ...env, ...over }, join(emptyFolder(), "backup"));
    const bucket = { S3_BUCKET: "files", S3_ENDPOINT: "http://127.0.0.1:1", S3_ACCESS_KEY_ID: "a" };
    expect(await backup({ ...bucket, S3_SECRET_ACCESS_KEY: "b" })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be reached for s3:\/\/files \(ECONNREFUSED\).* S3_ENDPOINT/),
    });
    const otherFolder = { DATA_DIR: emptyFolder() };
    expect(await backup(otherFolder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("does not lead to the files of this installation"),
    });
    const another = { DATABASE_URL: await preparedDatabase() };
    await (await startServer({ ...env, ...another, DATA_DIR: emptyFolder() })).end("SIGTERM");
    expect(await backup({ ...another, ...otherFolder })).toMatchObject({ code: 0 }); // it has no files
    const files = join(env.DATA_DIR!, "files");
    const path = readdirSync(files, { recursive: true }).find((name) => String(name).endsWith(id));
    truncateSync(join(files, String(path)), 3);
    expect(await backup({})).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`in the backup: ${String(path)} has 3 bytes instead of 4`),
    });
    rmSync(join(files, String(path)));
    expect(await backup({})).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`not in the backup: ${String(path)}`),
    });
    await api.delete(`/rest/v1/files/${id}`, 200);
  },
  LONG,
);

test(
  "a move fills an empty database, leaves the files in place and holds the old database",
  async () => {
    const { env, server, fileId, callId } = shared;
    const to = await emptyDatabase();
    expect((await runToEnd("cli/move", env, "--to", to)).stderr).toContain("A server is running");
    await server.end("SIGTERM");
    const before = await contentsOf(env.DATABASE_URL!);
    await succeed("move", env, "--to", to);
    expect(await contentsOf(to)).toEqual(before);
    const moved = await startServer({ ...env, WORKER: "on", DATABASE_URL: to });
    expect(moved.stdout()).not.toContain("HELD");
    const { url } = (await moved.api.get(`/rest/v1/files/${fileId}/download`, 200)) as { url: string };
    expect(await (await fetch(url)).text()).toBe("what a file holds");
    await until(async () => {
      const [call] = await query<{ status: string }>(to, "select status from chats where id = $1", [callId]);
      return call!.status === "ended";
    });
    const former = await startServer(env);
    expect(former.stdout()).toContain("HELD: moved to 127.0.0.1");
  },
  LONG,
);

test.each(["SIGTERM", "SIGINT"] as const)(
  "a backup that %s interrupts says so and leaves nothing",
  async (signal) => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    const folder = join(emptyFolder(), "backup");
    const holder = new pg.Client({ connectionString: env.DATABASE_URL });
    await holder.connect();
    afterTest(() => holder.end());
    await holder.query("begin; lock table webhook_destinations in access exclusive mode");
    const backup = startProgram("cli/backup", env, folder);
    await until(() => existsSync(join(folder, "tables")));
    const ended = backup.kill(signal);
    await holder.query("commit");
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`The backup to ${folder} was interrupted (${signal}). Nothing of it remains.`),
    ]);
    expect([stderr, existsSync(folder) && readdirSync(folder, { recursive: true })]).toEqual([stderr, false]);
  },
  LONG,
);
