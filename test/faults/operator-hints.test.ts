import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { QueryResultRow } from "pg";
import { query } from "../support/installation";
import { takeJob } from "../support/jobs";
import {
  emptyFolder,
  preparedDatabase,
  runAt,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
} from "../support/server";

const isRoot = process.getuid?.() === 0;
const USER = isRoot ? "nobody" : userInfo().username;

test(
  "a starting server logs the jobs that another server has not ended",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const database = {
      query: <R extends QueryResultRow>(text: string, values?: unknown[]) =>
        query<R>(env.DATABASE_URL, text, values),
    };
    const [job] = await database.query<{ id: string }>("select (graphile_worker.add_job('x')).id");
    await takeJob(database, job!.id, "dead");
    const server = await startServer(env);
    expect(server.stderr()).toContain('"jobs":1,"takeoverSeconds":90,');
  },
  SERVER_TIMEOUT_MS,
);

test(
  "a starting server suggests a request without a credential, also through a proxy, which does not open the settings",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const open = { ...env, OPEN_SETTINGS: "loopback" };
    const { url, stdout } = await startServer(open);
    expect(stdout()).toContain(`  curl ${url}/rest/v1/settings\n`);
    const proxied = await startServer({ ...open, PUBLIC_BASE_URL: "http://parley.example" });
    expect(proxied.stdout()).toContain("  curl http://parley.example/health/ready\n");
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a backup into a folder that its user may not write names the user and the remedy",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const place = { cwd: "/", ...(isRoot && { uid: 65_534, gid: 65_534 }) };
    const { code, stderr } = await runAt(place, "cli/backup", env, "/var/none/backup");
    expect(code).toBe(1);
    expect(stderr).toContain(`The user ${USER} cannot write to /var/none/backup.`);
    expect(stderr).toContain(`  sudo install -d -o ${USER} -m 700 '/var/none/backup'`);
  },
  SERVER_TIMEOUT_MS,
);

test(
  "restore names a DATA_DIR that cannot be created, and key:create the option of an expiry in the past",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const backup = join(emptyFolder(), "backup");
    expect(await runToEnd("cli/backup", env, backup)).toMatchObject({ code: 0 });
    const file = join(emptyFolder(), "file");
    writeFileSync(file, "");
    const dataDir = join(file, "data");
    expect(await runToEnd("cli/restore", { ...env, DATA_DIR: dataDir }, backup)).toMatchObject({
      code: 78,
      stderr: `DATA_DIR ${dataDir} cannot be used: ${file} is a file. Set DATA_DIR to a folder.\n`,
    });
    const { code, stderr } = await runToEnd("cli/key-create", env, "--expires-at", "2020-01-31T12:00:00Z");
    expect([code, stderr.trim().split("\n").at(-1)]).toEqual([1, "--expires-at must be in the future"]);
  },
  3 * SERVER_TIMEOUT_MS,
);
