import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import { newAssistant } from "../support/factories";
import { upload } from "../support/files";
import { afterTest, emptyFolder, runToEnd, SETTINGS, startServer } from "../support/server";
import { hasSystemPostgres, SystemPostgres } from "../support/standby";

if (!hasSystemPostgres()) test.todo("restore to a point in time: no PostgreSQL of the system is installed");

/** A folder in which PostgreSQL stores its log, whoever it runs as. */
function archive(): string {
  const folder = emptyFolder();
  chmodSync(folder, 0o777);
  return folder;
}

async function rowOf<R extends pg.QueryResultRow>(url: string, text: string): Promise<R> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<R>(text).finally(() => client.end());
  return rows[0]!;
}

(hasSystemPostgres() ? describe : describe.skip)("with archived log of PostgreSQL", () => {
  test("an installation is restored to a moment: rows, contents of files and secrets, and is held", async () => {
    const log = archive();
    const primary = await SystemPostgres.primary({
      archive_mode: "on",
      archive_command: `cp %p ${log}/%f`,
      wal_level: "replica",
    });
    afterTest(() => primary.remove());
    await rowOf(primary.url("postgres"), "create database parley");
    const env = {
      ...SETTINGS,
      DATABASE_URL: primary.url("parley"),
      DATA_DIR: emptyFolder(),
      OUTBOUND_ALLOW: "127.0.0.1",
    };
    const server = await startServer(env);
    const copy = await primary.baseBackup({
      restore_command: `cp ${log}/%f %p`,
      recovery_target_action: "promote",
    });
    afterTest(() => copy.remove());

    const { api } = server;
    const assistantId = await newAssistant(api, { name: "Kept" });
    const { id: file } = await upload(api, { content: "kept content" });
    await api.post("/rest/v1/settings", { url: "http://127.0.0.1:9/", secret: "kept secret" }, 201);
    const { value: key } = await api.post("/rest/v1/organization/keys", {}, 200);
    // Files never change, so a later copy has all of this moment, unless they were deleted meanwhile.
    const files = emptyFolder();
    cpSync(join(env.DATA_DIR, "files"), join(files, "files"), { recursive: true });
    const { now } = await rowOf<{ now: string }>(primary.url("parley"), "select now()::text as now");

    await api.delete(`/rest/v1/assistants/${assistantId}`, 200);
    await api.delete(`/rest/v1/files/${file}`, 200);
    await newAssistant(api, { name: "Too late" });
    await rowOf(primary.url("parley"), "select pg_switch_wal()");
    await server.end("SIGTERM");
    await primary.end("SIGINT"); // archives the rest

    await copy.recover({ recovery_target_time: now });
    const restored = { ...env, DATABASE_URL: copy.url("parley"), DATA_DIR: files };
    const held = await runToEnd("cli/hold", restored, "--note", `the archive at ${now}`);
    expect([held.code, held.stdout]).toEqual([
      0,
      expect.stringMatching(/HELD: restored from the archive at/),
    ]);
    const again = await startServer(restored);
    const own = again.api.as({ "X-API-Key": key as string });
    expect((await own.get("/rest/v1/assistants", 200)).data).toMatchObject([
      { id: assistantId, name: "Kept" },
    ]);
    const { url } = await own.get(`/rest/v1/files/${file}/download`, 200);
    expect(await (await fetch(url as string)).text()).toBe("kept content");
    expect(await again.api.get("/rest/v1/settings", 201)).toMatchObject([{ secret: "kept secret" }]);
    expect(await again.api.get("/health/ready", 200)).toMatchObject({ held: true });
    const refused = await runToEnd("cli/hold", restored);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/Servers are running/)]);
    expect((await runToEnd("cli/release", restored)).stdout).toMatch(/Released/);
    expect(await again.api.get("/health/ready", 200)).not.toHaveProperty("held");
  }, 180_000);
});
