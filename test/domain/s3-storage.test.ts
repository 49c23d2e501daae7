import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { sweepFiles } from "../../src/assistants/files/janitor";
import { BoundedAnswers } from "../../src/platform/outbound/bounds";
import { openStorage } from "../../src/platform/providers/open-storage";
import { s3Storage } from "../../src/platform/providers/s3-storage";
import { startApp } from "../support/app";
import { configOf } from "../support/config";
import { importerOf } from "../support/importers";
import { createDatabase, type TestDatabase } from "../support/database";
import { startS3 } from "../support/s3";
import { until } from "../support/until";

let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  s3 = await startS3("AKIDTEST");
});
afterEach(() => void s3.refuse(() => undefined));
afterAll(() => s3.stop());

const settings = () => ({
  S3_BUCKET: "files",
  S3_ENDPOINT: s3.url,
  S3_ACCESS_KEY_ID: "AKIDTEST",
  S3_SECRET_ACCESS_KEY: "secret",
});
const form = (name = "prices", size = 10) => {
  const content = new FormData();
  const text = "price list".padEnd(size);
  content.set("file", new File([text], `${name}.txt`, { type: "text/plain" }));
  return content;
};
const storage = () => openStorage(configOf(settings()));

/** Ids and names of files, and the names that they are shown with. */
const HOSTILE: readonly (readonly [id: string, name: string, shown: string])[] = [
  ["...", "..", "file"],
  ["../../other/file", "../../etc/passwd", "passwd"],
  ["/leading", "/leading.txt", "leading.txt"],
  ["a//b/./c/", "a//b/./c.txt", "c.txt"],
  ["%2e%2e%2fx", "%2e%2e%2fx", "%2e%2e%2fx"],
  ["a\\b", "C:\\b.txt", "b.txt"],
  ["\u00e9", "\u00e9.txt", "\u00e9.txt"],
  ["e\u0301", "e\u0301.txt", "\u00e9.txt"],
  ["A", "A.txt", "A.txt"],
  ["a", "a.txt", "a.txt"],
  ["?versionId=1#x&uploads", "?versionId=1#x.txt", "?versionId=1#x.txt"],
  ["line\nbreak\t", "tab\t.txt", "tab.txt"],
  ["x".repeat(255), `${"x".repeat(1_020)}.txt`, `${"x".repeat(251)}.txt`],
  [`sha256-${"0".repeat(64)}`, "digest.txt", "digest.txt"],
  ["__proto__", "constructor", "constructor"],
  ["\u202egpj\u{1f600}", "photo\u202egpj.exe", "photogpj.exe"],
];

describe("files in an S3-compatible store", () => {
  test("a small and a large file are read back byte for byte", async () => {
    for (const size of [0, 11, 12_000_000]) {
      const content = randomBytes(size);
      const pieces = size === 0 ? [] : [content.subarray(0, size / 2), content.subarray(size / 2)];
      expect(await storage().put(`org/${size}`, Readable.from(pieces))).toBe(size);
      expect((await buffer(await storage().get(`org/${size}`))).equals(content)).toBe(true);
    }
    expect(s3.uploads.size).toBe(0);
  });

  test("an upload that breaks off leaves nothing", async () => {
    const broken = new Readable({
      read() {
        this.push(Buffer.alloc(6_000_000));
        this.destroy(new Error("broken off"));
      },
    });
    await expect(storage().put("org/broken", broken)).rejects.toThrow();
    expect(s3.objects.has("org/broken")).toBe(false);
    expect(s3.uploads.size).toBe(0);
  });

  test("lists page by page, without removed files", async () => {
    await storage().put("org/a", Readable.from([Buffer.from("a")]));
    await storage().put("org/b", Readable.from([Buffer.from("b")]));
    await storage().remove("org/a");
    await storage().remove("org/never");
    const keys: string[] = [];
    for await (const { key } of storage().list()) keys.push(key);
    expect(keys).toEqual(["org/0", "org/11", "org/12000000", "org/b"]);
    await expect(storage().get("org/a")).rejects.toThrow();
  });

  describe("when the store does not answer in time", () => {
    const patience = { idleMs: 200, answerMs: 400, partMs: 400, attempts: 2 };
    const impatient = () =>
      s3Storage({ bucket: "files", patience }, configOf(settings()), new BoundedAnswers());
    const late = { name: "TimeoutError" };
    const list = () => impatient().list()[Symbol.asyncIterator]().next();

    test("are given up on, and no attempt goes on", async () => {
      s3.refuse(() => "stall");
      await expect(list()).rejects.toMatchObject(late);
      await expect(impatient().has("org/11")).rejects.toMatchObject(late);
      await expect(impatient().get("org/11")).rejects.toMatchObject(late);
      await expect(impatient().remove("org/11")).rejects.toMatchObject(late);
      for (const size of [11, 12_000_000])
        await expect(impatient().put("late", Readable.from([Buffer.alloc(size)]))).rejects.toMatchObject(
          late,
        );
      await until(() => Promise.resolve(s3.unfinished() === 0));
    });

    test("are given up on although it sends a byte now and then", async () => {
      s3.refuse(() => "trickle");
      await expect(list()).rejects.toMatchObject(late);
      await expect(impatient().remove("org/11")).rejects.toMatchObject(late);
    });
  });

  describe("of an installation", () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createDatabase();
      await (await startApp(database, settings())).stop();
    });
    afterAll(() => database.drop());

    test("that may not be written any more refuses the start, and says what to allow", async () => {
      s3.refuse((method) => (method === "PUT" || method === "POST" ? 403 : undefined));
      await expect(startApp(database, settings())).rejects.toThrow(
        /^S3_BUCKET files cannot store files: .* refuses access to s3:\/\/files \(AccessDenied\)\. Allow .*s3:PutObject.* for the key of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY/,
      );
    });

    test("that does not exist refuses the start, and names the setting", async () => {
      const elsewhere = await createDatabase();
      try {
        for (const each of [database, elsewhere])
          await expect(startApp(each, { ...settings(), S3_BUCKET: "nowhere" })).rejects.toThrow(
            /^S3_BUCKET nowhere cannot store files: The bucket "nowhere" of s3:\/\/nowhere does not exist at .* Create it, or correct the name or S3_ENDPOINT\.$/,
          );
      } finally {
        await elsewhere.drop();
      }
    });

    test.each([404, 405])(
      "at a server that is no S3 service and answers with %i refuses the start, and names the setting",
      async (status) => {
        const other = createServer((req, res) => {
          req.resume();
          res
            .writeHead(status, { "content-type": "text/html" })
            .end("<!doctype html><p>A page <br> of the web");
        }).listen(0, "127.0.0.1");
        await once(other, "listening");
        const S3_ENDPOINT = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
        const empty = await createDatabase();
        try {
          await expect(startApp(database, { ...settings(), S3_ENDPOINT })).rejects.toThrow(/S3_ENDPOINT/);
          await expect(startApp(empty, { ...settings(), S3_ENDPOINT })).rejects.toThrow(/S3_ENDPOINT/);
        } finally {
          other.close();
          await empty.drop();
        }
      },
    );

    test("that is away lets a server start, which is ready when it is back and answers files with 503 until then", async () => {
      s3.refuse(() => 503);
      const running = await startApp(database, settings());
      try {
        expect(await running.api.get("/health/ready", 503)).toMatchObject({ files: "unreachable" });
        expect(await running.api.request("POST", "/rest/v1/files/upload", form())).toMatchObject({
          status: 503,
          body: { code: "UNAVAILABLE" },
        });
        s3.refuse(() => undefined);
        await until(async () => (await running.api.request("GET", "/health/ready")).status === 200);
        await running.api.post("/rest/v1/files/upload", form(), 201);
      } finally {
        await running.stop();
      }
    });

    test.each([
      ["has disappeared", 404, "NoSuchBucket"],
      ["is in another region", 301, "status 301"],
      ["refuses the key", 403, "status 403"],
      ["asks for fewer requests", 503, "status 503"],
    ])(
      "that %s while a server runs answers files with 503, and deletes what it can",
      async (_, status, reason) => {
        const running = await startApp(database, settings());
        try {
          const { id, organizationId } = await running.api.post("/rest/v1/files/upload", form(), 201);
          const { url } = await running.api.get(`/rest/v1/files/${id}/download`, 200);
          s3.refuse(() => status);
          const answer = {
            status: 503,
            body: { message: expect.stringContaining(`(${reason})`) as unknown, code: "UNAVAILABLE" },
          };
          expect(await running.api.request("POST", "/rest/v1/files/upload", form())).toMatchObject(answer);
          const { pathname, search } = new URL(url);
          expect(await running.api.request("GET", pathname + search)).toMatchObject(answer);
          await running.api.delete(`/rest/v1/files/${id}`, 200);
          s3.refuse(() => undefined);
          await sweepFiles(running.app.database, storage(), Date.now() + 2 * 3_600_000);
          expect([...s3.objects.keys()]).not.toContain(`${organizationId}/${id}`);
        } finally {
          await running.stop();
        }
      },
    );

    test("that stalls while a server runs ends requests in time: uploads store nothing, deletions succeed", async () => {
      const running = await startApp(database, settings());
      try {
        const { id } = await running.api.post("/rest/v1/files/upload", form("stalled"), 201);
        const { url } = await running.api.get(`/rest/v1/files/${id}/download`, 200);
        const { pathname, search } = new URL(url);
        const unavailable = { status: 503, body: { code: "UNAVAILABLE" } };
        s3.refuse((method) => (method === "HEAD" ? undefined : "stall"));
        const uploading = running.api.request("POST", "/rest/v1/files/upload", form("stalled"));
        expect(await running.api.request("GET", pathname + search)).toMatchObject(unavailable);
        await running.api.delete(`/rest/v1/files/${id}`, 200);
        expect(await uploading).toMatchObject(unavailable);
        s3.refuse(() => undefined);
        const { data } = (await running.api.get("/rest/v1/files", 200)) as { data: { name: string }[] };
        expect(data.map(({ name }) => name)).not.toContain("stalled.txt");
      } finally {
        await running.stop();
      }
    });

    test("that drops an upload before its end answers it with 503", async () => {
      const running = await startApp(database, settings());
      try {
        s3.refuse((method) => (method === "PUT" ? "NoSuchUpload" : undefined));
        const large = form("large", 6_000_000);
        expect(await running.api.request("POST", "/rest/v1/files/upload", large)).toMatchObject({
          status: 503,
          body: { message: expect.stringContaining("(NoSuchUpload)") as unknown },
        });
      } finally {
        await running.stop();
      }
    });
  });

  test("files with hostile ids and names have safe keys of their own, and come back with id, name and content", async () => {
    const database = await createDatabase();
    const running = await startApp(database, settings());
    const importer = await importerOf(running.api);
    const query =
      "mutation ($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id name } }";
    const store = (id: string, name: string, content: string) => {
      const form = new FormData();
      form.set("operations", JSON.stringify({ query, variables: { file: null, input: { id } } }));
      form.set("map", JSON.stringify({ 0: ["variables.file"] }));
      form.set("0", new File([content], name, { type: "text/plain" }));
      return importer.request("POST", "/graphql", form, { "Apollo-Require-Preflight": "true" });
    };
    try {
      const before = new Set(s3.objects.keys());
      for (const [id, name, shown] of HOSTILE) {
        const { body } = await store(id, name, `content of ${id}`);
        expect(body.data?.importFile).toEqual({ id, name: shown });
      }
      const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
      const keys = [...s3.objects.keys()].filter((key) => !before.has(key) && key.includes("/"));
      expect(keys).toHaveLength(HOSTILE.length);
      for (const key of keys)
        expect(key).toMatch(new RegExp(`^${organizationId}/(sha256-[\\da-f]{64}|[\\da-z-]+)$`));
      for (const [id, , shown] of HOSTILE) {
        const { url } = await running.api.get(`/rest/v1/files/${encodeURIComponent(id)}/download`, 200);
        const answer = await fetch(url);
        const [, name = ""] = answer.headers.get("content-disposition")!.split("''");
        expect([decodeURIComponent(name), await answer.text()]).toEqual([shown, `content of ${id}`]);
        await running.api.delete(`/rest/v1/files/${encodeURIComponent(id)}`, 200);
      }
      for (const key of keys) expect(s3.objects.has(key)).toBe(false);
      for (const id of ["", "a\0b", "\ud800", "x".repeat(256)]) {
        const { body } = await store(id, "a.txt", "a");
        expect([id, body.errors?.[0].extensions.code ?? body.code]).toEqual([id, "BAD_USER_INPUT"]);
      }
    } finally {
      await running.stop();
      await database.drop();
    }
  });

  test("the service uploads to it and serves from it, unless the content has another size by then", async () => {
    const database = await createDatabase();
    const running = await startApp(database, settings());
    try {
      const form = new FormData();
      form.set("file", new File(["price list"], "prices.txt", { type: "text/plain" }));
      const { id, organizationId } = await running.api.post("/rest/v1/files/upload", form, 201);
      expect(s3.objects.get(`${organizationId}/${id}`)?.toString()).toBe("price list");
      const { url } = await running.api.get(`/rest/v1/files/${id}/download`, 200);
      expect(await (await fetch(url)).text()).toBe("price list");
      for (const changed of ["price lists", "price"]) {
        s3.objects.set(`${organizationId}/${id}`, Buffer.from(changed));
        await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
      }
      await running.api.delete(`/rest/v1/files/${id}`, 200);
      expect(s3.objects.has(`${organizationId}/${id}`)).toBe(false);
    } finally {
      await running.stop();
      await database.drop();
    }
  });
});
