import { expect, test } from "@jest/globals";
import { query } from "../support/installation";
import {
  emptyFolder,
  preparedDatabase,
  runAt,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
} from "../support/server";

test(
  "a starting server logs the jobs that another server has not ended",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    await query(env.DATABASE_URL, "select graphile_worker.add_job('x')");
    await query(
      env.DATABASE_URL,
      "update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now()",
    );
    const server = await startServer(env);
    expect(server.stderr()).toContain('"jobs":1,"takeoverSeconds":90,');
  },
  SERVER_TIMEOUT_MS,
);

(process.getuid?.() === 0 ? test : test.skip)(
  "a backup into a folder that its user may not write names the user and the remedy",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const place = { cwd: "/", uid: 65_534, gid: 65_534 };
    const { code, stderr } = await runAt(place, "cli/backup", env, "/var/none/backup");
    expect(code).toBe(1);
    expect(stderr).toContain("The user nobody cannot write to /var/none/backup.");
    expect(stderr).toContain("  sudo install -d -o nobody -m 700 '/var/none/backup'");
  },
  SERVER_TIMEOUT_MS,
);
