import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { DeleteObjectCommand, ListObjectVersionsCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import { forget } from "../support/erasures";
import { newAssistant, newChat } from "../support/factories";
import { upload } from "../support/files";
import { startS3 } from "../support/s3";
import { afterTest, emptyFolder, runToEnd, SETTINGS, startServer, type Env } from "../support/server";
import { hasSystemPostgres, SystemPostgres } from "../support/standby";
import { LONG } from "../support/suite";
import { until } from "../support/until";

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

/** The store of the files of an installation, which can be brought back to a moment. */
interface Files {
  readonly env: Env;
  /** Called at the moment; what it returns is called after the end of the installation. */
  readonly keep: () => () => Promise<Env>;
}

/** Files never change, so a later copy of the folder has all of the moment, unless they were deleted meanwhile. */
function folder(): Files {
  const env = { DATA_DIR: emptyFolder() };
  return {
    env,
    keep: () => {
      const copy = emptyFolder();
      cpSync(join(env.DATA_DIR, "files"), join(copy, "files"), { recursive: true });
      return () => Promise.resolve({ DATA_DIR: copy });
    },
  };
}

/** A bucket with versions, in which deleted files have a delete marker that can be removed. */
async function bucket(): Promise<Files> {
  const s3 = await startS3("AKIDTEST");
  afterTest(() => s3.stop());
  const access = { accessKeyId: "AKIDTEST", secretAccessKey: "secret" };
  const env = {
    DATA_DIR: emptyFolder(),
    S3_BUCKET: "files",
    S3_ENDPOINT: s3.url,
    S3_ACCESS_KEY_ID: access.accessKeyId,
    S3_SECRET_ACCESS_KEY: access.secretAccessKey,
  };
  const client = new S3Client({
    endpoint: s3.url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: access,
  });
  const restore = async () => {
    const { DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: "files" }));
    expect(DeleteMarkers).not.toEqual([]);
    for (const { Key, VersionId } of DeleteMarkers)
      await client.send(new DeleteObjectCommand({ Bucket: "files", Key, VersionId }));
    client.destroy();
    return env;
  };
  return { env, keep: () => restore };
}

/** A primary that archives its log, and a copy that can be recovered to any moment after its base backup. */
async function archivedPostgres() {
  const log = archive();
  const primary = await SystemPostgres.primary({
    archive_mode: "on",
    archive_command: `cp %p ${log}/%f`,
    wal_level: "replica",
  });
  afterTest(() => primary.remove());
  await rowOf(primary.url("postgres"), "create database parley");
  const backUp = async () => {
    const copy = await primary.baseBackup({
      restore_command: `cp ${log}/%f %p`,
      recovery_target_action: "promote",
    });
    afterTest(() => copy.remove());
    return copy;
  };
  return { primary, backUp };
}

const PLACES = { "a bucket with versions": bucket, "a folder": folder };

(hasSystemPostgres() ? describe : describe.skip)("with archived log of PostgreSQL", () => {
  test.each(Object.entries(PLACES).slice(0, LONG ? 2 : 1))(
    "an installation with %s is restored to a moment: rows, contents of files and secrets, but no erased people",
    async (_, place) => {
      const { primary, backUp } = await archivedPostgres();
      const files = await place();
      const env = {
        ...SETTINGS,
        ...files.env,
        DATABASE_URL: primary.url("parley"),
        OUTBOUND_ALLOW: "127.0.0.1",
      };
      const server = await startServer(env);
      const copy = await backUp();

      const { api } = server;
      const assistantId = await newAssistant(api, { name: "Kept" });
      const { id: file } = await upload(api, { content: "kept content" });
      await api.post("/rest/v1/settings", { url: "http://127.0.0.1:9/", secret: "kept secret" }, 201);
      const { value: key } = await api.post("/rest/v1/organization/keys", {}, 200);
      for (const uniqueId of ["erased", "kept"]) await newChat(api, assistantId, { uniqueId });
      const restoreFiles = files.keep();
      const { now } = await rowOf<{ now: string }>(primary.url("parley"), "select now()::text as now");

      await forget(server, { uniqueId: "erased" });
      await api.delete(`/rest/v1/assistants/${assistantId}`, 200);
      await api.delete(`/rest/v1/files/${file}`, 200);
      await newAssistant(api, { name: "Too late" });
      const backup = join(emptyFolder(), "backup");
      expect(await runToEnd("cli/backup", env, backup)).toMatchObject({ code: 0 });
      await rowOf(primary.url("parley"), "select pg_switch_wal()");
      await server.end("SIGTERM");
      await primary.end("SIGINT"); // archives the rest

      await copy.recover({ recovery_target_time: now });
      const restored = { ...env, ...(await restoreFiles()), DATABASE_URL: copy.url("parley") };
      const held = await runToEnd("cli/hold", restored, "--note", `archive at ${now}`, "--erasures", backup);
      expect([held.code, held.stdout]).toEqual([
        0,
        expect.stringMatching(/^Erasures to repeat .*: 1\..*\n.*HELD: restored from archive at/),
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
      const left = "select array_agg(unique_id) as people from chats";
      await until(async () => {
        const { people } = await rowOf<{ people: string[] }>(restored.DATABASE_URL, left);
        return people.join() === "kept";
      });
    },
    180_000,
  );
});
