import { userInfo } from "node:os";
import { expect, test } from "@jest/globals";
import type { QueryResultRow } from "pg";
import { query } from "../support/installation";
import { takeJob } from "../support/jobs";
import {
  emptyFolder,
  preparedDatabase,
  runAt,
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
