import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import {
  afterTest,
  emptyDatabase,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";
import { startS3 } from "../support/s3";
import { until } from "../support/until";

function upload(api: Api) {
  const form = new FormData();
  form.append("file", new Blob(["the content"]), "text.txt");
  return api.request("POST", "/rest/v1/files/upload", form);
}

/** The content of a file, fetched from this server whatever host the link names. */
async function download(api: Api, id: string) {
  const { url } = await api.get(`/rest/v1/files/${id}/download`, 200);
  return api.request("GET", new URL(url).pathname + new URL(url).search);
}

test(
  "files:adopt needs --force while a server runs or a file is missing, and no longer",
  async () => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    const server = await startServer(env);
    await upload(server.api);
    const adopt = (DATA_DIR: string) => runToEnd("cli/files-adopt", { ...env, DATA_DIR });
    expect((await adopt(env.DATA_DIR)).stderr).toMatch(/missing there: 0 of 1\nRunning .*: 1\nNothing/);
    await server.end("SIGTERM");
    expect((await adopt(emptyFolder())).stderr).toMatch(/missing there: 1 of 1\nRunning .*: 0\nNothing/);
    const copied = emptyFolder();
    cpSync(env.DATA_DIR, copied, { recursive: true });
    expect(await adopt(copied)).toMatchObject({ code: 0, stdout: '{"adopted":true}\n' });
  },
  4 * SERVER_TIMEOUT_MS,
);

test(
  "files move from DATA_DIR to a bucket by a copy to the same keys and files:adopt",
  async () => {
    const s3 = await startS3("AKIDTEST");
    afterTest(s3.stop);
    const bucket = { S3_BUCKET: "files", S3_ENDPOINT: s3.url, S3_ACCESS_KEY_ID: "AKIDTEST" };
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    const before = await startServer(env);
    const { id } = (await upload(before.api)).body;
    await before.end("SIGTERM");
    const files = join(env.DATA_DIR, "files");
    for (const entry of readdirSync(files, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) s3.objects.set(relative(files, path), readFileSync(path));
    }
    const moved = { ...env, ...bucket, S3_SECRET_ACCESS_KEY: "secret", DATA_DIR: emptyFolder() };
    expect(await runToEnd("cli/files-adopt", moved)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("missing there: 0 of 1"),
    });
    const after = await startServer(moved);
    expect(await after.api.get("/health/ready", 200)).toMatchObject({ files: "ok" });
    expect(await download(after.api, id)).toMatchObject({ status: 200, text: "the content" });
  },
  4 * SERVER_TIMEOUT_MS,
);

describe.each([
  [
    "is away",
    1,
    { S3_ENDPOINT: "http://127.0.0.1:1" },
    /cannot be reached for s3:\/\/files .* correct S3_ENDPOINT/,
  ],
  [
    "refuses the key",
    78,
    { S3_ACCESS_KEY_ID: "other" },
    /refuses the credentials .* Correct S3_ACCESS_KEY_ID/,
  ],
  ["does not exist", 78, { S3_BUCKET: "nowhere" }, /The bucket "nowhere" .* does not exist .* S3_ENDPOINT/],
])("a bucket for files that %s", (_name, code, wrong, says) => {
  test(
    "is explained by its setting, by files:adopt and by restore",
    async () => {
      const s3 = await startS3("AKIDTEST");
      afterTest(s3.stop);
      const keys = { S3_ACCESS_KEY_ID: "AKIDTEST", S3_SECRET_ACCESS_KEY: "secret" };
      const bucket = { S3_BUCKET: "files", S3_ENDPOINT: s3.url, ...keys, ...wrong };
      const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
      const server = await startServer(env);
      await upload(server.api);
      await server.end("SIGTERM");
      const explained = { code, stderr: expect.stringMatching(says) };
      expect(await runToEnd("cli/files-adopt", { ...env, ...bucket })).toMatchObject(explained);
      const backup = join(emptyFolder(), "backup");
      expect(await runToEnd("cli/backup", env, backup)).toMatchObject({ code: 0 });
      const empty = { ...env, ...bucket, DATABASE_URL: await emptyDatabase() };
      expect(await runToEnd("cli/restore", empty, backup)).toMatchObject(explained);
    },
    4 * SERVER_TIMEOUT_MS,
  );
});

test(
  "an outage of the bucket adds one line a minute to the log, however many requests fail",
  async () => {
    const s3 = await startS3("AKIDTEST");
    afterTest(s3.stop);
    const keys = { S3_ACCESS_KEY_ID: "AKIDTEST", S3_SECRET_ACCESS_KEY: "secret" };
    const bucket = { S3_BUCKET: "files", S3_ENDPOINT: s3.url, ...keys };
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
    const { api, stderr } = await startServer({ ...env, ...bucket });
    s3.refuse((method) => (method === "HEAD" ? undefined : 403));
    for (let request = 0; request < 4; request++)
      expect(await upload(api)).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
    await until(() => stderr().includes("cannot use its file storage"));
    const lines = stderr().split("\n");
    expect(lines.filter((line) => line.includes("cannot use its file storage"))).toHaveLength(1);

    const told = () => stderr().match(/the store of files (does not answer|answers again)/g);
    expect(told()).toBeNull(); // it answers, but refuses to store
    s3.refuse(() => 503);
    await until(async () => (await api.request("GET", "/health/ready")).status === 503);
    for (let request = 0; request < 4; request++) await api.request("GET", "/health/ready");
    s3.refuse(() => undefined);
    await until(async () => (await api.request("GET", "/health/ready")).status === 200);
    await until(() => told()?.at(-1) === "the store of files answers again"); // its line comes through a pipe
    expect(told()).toEqual(["the store of files does not answer", "the store of files answers again"]);
  },
  SERVER_TIMEOUT_MS,
);

describe("two servers on one database", () => {
  test(
    "share their files in one folder",
    async () => {
      const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
      const [first, second] = [await startServer(env), await startServer(env)];
      const { id } = (await upload(first.api)).body;
      expect(await download(second.api, id)).toMatchObject({ status: 200, text: "the content" });
      for (const { api, stdout } of [first, second]) {
        expect(await api.get("/health/ready", 200)).toMatchObject({ files: "ok" });
        expect(stdout()).not.toContain("NOT SHARED");
      }
      expect(readdirSync(join(env.DATA_DIR, "files"))).toContain("installation");
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "with separate folders: the second reports it, is not ready and refuses files until it adopts them",
    async () => {
      const shared = { ...SETTINGS, DATABASE_URL: await preparedDatabase() };
      const first = await startServer({ ...shared, DATA_DIR: emptyFolder() });
      const apart = { ...shared, DATA_DIR: emptyFolder() };
      const second = await startServer(apart);
      await until(() => second.stdout().includes("FILES ARE NOT SHARED"));
      expect(second.stdout()).not.toContain("Parley is ready.");
      expect(first.stdout()).toContain("Parley is ready.");
      expect(await second.api.get("/health/ready", 503)).toMatchObject({ files: "not shared" });
      expect((await second.api.request("GET", "/metrics")).text).toContain("\nparley_server_ready 0\n");
      expect(await first.api.get("/health/ready", 200)).toMatchObject({ files: "ok" });

      const { id } = (await upload(first.api)).body;
      for (const answer of [await download(second.api, id), await upload(second.api)]) {
        expect(answer).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
        expect(answer.headers.get("Retry-After")).toBe("2");
      }

      const refused = await runToEnd("cli/files-adopt", apart);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr.split("\n").slice(1)).toEqual([
        `Folder: ${join(apart.DATA_DIR, "files")}`,
        "Stored files that are missing there: 1 of 1",
        "Running servers on this database: 2",
        expect.stringContaining("Nothing was changed. "),
        "",
      ]);
      expect((await upload(first.api)).status).toBe(201);
      expect(await runToEnd("cli/files-adopt", apart, "--force")).toMatchObject({ code: 0 });
      await until(async () => (await second.api.request("GET", "/health/ready")).status === 200);
      expect((await upload(second.api)).status).toBe(201);
      // Files of the other folder are missing here: 404, not an internal error.
      expect(await download(second.api, id)).toMatchObject({
        status: 404,
        body: { code: "FILE_CONTENT_MISSING" },
      });
    },
    4 * SERVER_TIMEOUT_MS,
  );
});
