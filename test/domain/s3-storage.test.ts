import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openStorage } from "../../src/platform/providers/open-storage";
import { startApp } from "../support/app";
import { configOf } from "../support/config";
import { createDatabase } from "../support/database";
import { startS3 } from "../support/s3";

let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  s3 = await startS3("AKIDTEST");
});
afterAll(() => s3.stop());

const settings = () => ({
  S3_BUCKET: "files",
  S3_ENDPOINT: s3.url,
  S3_ACCESS_KEY_ID: "AKIDTEST",
  S3_SECRET_ACCESS_KEY: "secret",
});
const storage = () => openStorage(configOf(settings()));

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

  test("the service uploads to it and serves from it", async () => {
    const database = await createDatabase();
    const running = await startApp(database, settings());
    try {
      const form = new FormData();
      form.set("file", new File(["price list"], "prices.txt", { type: "text/plain" }));
      const { id, organizationId } = await running.api.post("/rest/v1/files/upload", form, 201);
      expect(s3.objects.get(`${organizationId}/${id}`)?.toString()).toBe("price list");
      const { url } = await running.api.get(`/rest/v1/files/${id}/download`, 200);
      expect(await (await fetch(url)).text()).toBe("price list");
      await running.api.delete(`/rest/v1/files/${id}`, 200);
      expect(s3.objects.has(`${organizationId}/${id}`)).toBe(false);
    } finally {
      await running.stop();
      await database.drop();
    }
  });
});
