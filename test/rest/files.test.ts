import { readdirSync } from "node:fs";
import { request } from "node:http";
import { Readable } from "node:stream";
import { tmpdir } from "node:os";
import { describe, expect, test } from "@jest/globals";
import { sweepFiles } from "../../src/assistants/files/janitor";
import { withDeclaredTypes } from "../../src/http/multipart/declared-types";
import { useApp } from "../support/app";
import { png, storageOf, storedKeys, upload, uploadByGraphQL } from "../support/files";
import { until } from "../support/until";

const FILES = "/rest/v1/files";
const running = useApp();

const detectedTypeOf = async (id: string) => {
  const { files } = await running.api.gql("{ files(take: 100) { data { id detectedType } } }");
  return (files.data as { id: string; detectedType: string }[]).find((file) => file.id === id)?.detectedType;
};
const linkTo = async (id: string): Promise<string> =>
  (await running.api.get(`${FILES}/${id}/download`, 200)).url;
/** Names of all stored files. */
const stored = async () => (await storedKeys(running)).map((key) => key.slice(key.lastIndexOf("/") + 1));
/** Enough for an upload that has not ended by then to be the remains of a crash, in ms. */
const LATER_MS = 2 * 3_600_000;
const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith("capacitor-"));
describe("a file", () => {
  test("is uploaded, listed, downloaded by its link and deleted", async () => {
    const content = Uint8Array.from({ length: 300_000 }, (_, n) => (n * 7) % 256);
    const file = await upload(running.api, {
      content,
      name: "bytes.bin",
      type: "application/x-own",
      metadata: { b: 1, a: 2 },
    });
    expect(file).toEqual({
      id: expect.any(String),
      name: "bytes.bin",
      organizationId: (await running.api.get("/rest/v1/organization", 200)).id,
      mimeType: "application/x-own",
      size: 300_000,
      metadata: { a: 2, b: 1 },
      createdAt: expect.stringMatching(/^\d{4}-.+Z$/),
    });
    expect((await running.api.get(FILES, 200)).data).toContainEqual(file);
    const answer = await fetch(await linkTo(file.id));
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
    expect(await stored()).toContain(file.id);
    expect(await running.api.delete(`${FILES}/${file.id}`, 200)).toEqual({ id: file.id });
    expect(await stored()).not.toContain(file.id);
    await running.api.get(`${FILES}/${file.id}/download`, 404);
    await running.api.delete(`${FILES}/${file.id}`, 404);
  });

  test("is uploaded through GraphQL as through REST", async () => {
    const { body, status } = await uploadByGraphQL(running.api, {
      content: png,
      name: "ä.png",
      type: "image/png",
      metadata: { a: 1 },
    });
    expect([status, body.errors]).toEqual([200, undefined]);
    const { id } = body.data.uploadFile;
    expect(body.data.uploadFile).toEqual({
      id,
      name: "ä.png",
      mimeType: "image/png",
      detectedType: "image/png",
      size: png.length,
      metadata: { a: 1 },
    });
    const { fileDownload } = await running.api.gql(
      "query ($id: ID!) { fileDownload(id: $id) { url expiresAt } }",
      { id },
    );
    expect(Buffer.from(await (await fetch(fileDownload.url)).arrayBuffer()).equals(png)).toBe(true);
    await running.api.gql("mutation ($id: ID!) { deleteFile(id: $id) { id } }", { id });
    expect((await fetch(fileDownload.url)).status).toBe(404);
  });

  test("may be empty", async () => {
    const { id, size } = await upload(running.api, { content: "" });
    expect(size).toBe(0);
    const answer = await fetch(await linkTo(id));
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect((await uploadByGraphQL(running.api, { content: "" })).body.data.uploadFile.size).toBe(0);
  });
});

describe("the description of an upload", () => {
  const long = `${"é".repeat(200)}.txt`;
  test.each([
    ["plain.txt", "plain.txt"],
    ["../../etc/passwd", "passwd"],
    ["C:\\temp\\report.pdf", "report.pdf"],
    ["a\u0085b\u009fc.txt", "abc.txt"],
    ["photo\u202egpj.exe", "photogpj.exe"],
    ["Zoe\u0308.txt", "Zoë.txt"],
    ["日本語 🎉.txt", "日本語 🎉.txt"],
    ["..", "file"],
    [long, `${"é".repeat(125)}.txt`],
  ])("stores the name %p as %p", async (name, kept) => {
    const uploaded = await upload(running.api, { name });
    expect(uploaded.name).toBe(kept);
    expect((await uploadByGraphQL(running.api, { name })).body.data.uploadFile.name).toBe(kept);
    const disposition = (await fetch(await linkTo(uploaded.id))).headers.get("content-disposition")!;
    expect(decodeURIComponent(disposition.split("''")[1]!)).toBe(kept);
  });

  test.each([
    ["Text/HTML; charset=utf-8", "text/html"],
    ["image/svg+xml", "image/svg+xml"],
    ["image/png; a", "image/png"],
    [`x/${"y".repeat(200)}`, "application/octet-stream"],
    ["none", "application/octet-stream"],
    ["", "application/octet-stream"],
    [undefined, "application/octet-stream"],
  ])("stores the declared type %p as %p, also through GraphQL", async (type, kept) => {
    const part = (name: string, more: string, content: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
    const declared = type === undefined ? "" : `\r\nContent-Type: ${type}`;
    const file = (name: string) => `${part(name, `; filename="a"${declared}`, "hello")}--x--\r\n`;
    const query = "mutation ($file: Upload!) { uploadFile(file: $file) { mimeType } }";
    const operations = JSON.stringify({ query, variables: { file: null } });
    const gql = part("operations", "", operations) + part("map", "", '{"0":["variables.file"]}') + file("0");
    const form = { "Content-Type": "multipart/form-data; boundary=x" };
    const sent = await running.api.request("POST", `${FILES}/upload`, file("file"), form);
    expect([sent.status, sent.body.mimeType]).toEqual([201, kept]);
    const { body } = await running.api.request("POST", "/graphql", gql, form);
    expect(body.data?.uploadFile.mimeType).toBe(kept);
  });

  test("detects the type however the form is split into chunks, and leaves the content unchanged", async () => {
    const content = "\r\n--y\r\nContent-Disposition: form-data; filename=b\r\n\r\n--xx\r\n";
    const form = Buffer.from(
      `--x\r\nContent-Disposition: form-data;\r\n name="file"; filename="ä"\r\n\r\n${content}\r\n--x--\r\n`,
    );
    for (let length = 1; length < form.length; length++) {
      const pieces = Array.from({ length: Math.ceil(form.length / length) }, (_, index) =>
        form.subarray(index * length, (index + 1) * length),
      );
      const req = Object.assign(Readable.from(pieces), {
        headers: { "content-type": 'multipart/form-data; boundary="x"' },
      });
      const read = Buffer.concat(await withDeclaredTypes(req as never).toArray()).toString();
      const [, before, after] = form.toString().split(/(^--x\r\n)/);
      expect(read.trimStart()).toBe(`${before}Content-Type: application/octet-stream\r\n${after}`);
    }
  });

  test.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ["image/png", png],
    ["application/pdf", "%PDF-1.7\n%âãÏÓ\n1 0 obj\n"],
    ["text/html", "\n<!DOCTYPE html><script>alert(1)</script>"],
    ["text/plain", "just some text, é"],
    ["application/octet-stream", Uint8Array.from([0, 1, 2, 255, 254])],
  ])("detects %s whatever type is declared", async (detected, content) => {
    const { id } = await upload(running.api, { content, type: "image/gif", name: "a.gif" });
    expect(await detectedTypeOf(id)).toBe(detected);
  });
});

describe("a download", () => {
  test("never runs as a page of this service, and is not cached", async () => {
    const { id } = await upload(running.api, {
      content: "<script>alert(1)</script>",
      name: "page.html",
      type: "text/html",
    });
    const { headers } = await fetch(await linkTo(id));
    expect(headers.get("content-type")).toBe("text/html");
    expect(headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''page.html");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toMatch(/^sandbox;.*default-src 'none'/);
    expect(headers.get("cache-control")).toBe("private, no-store");
  });

  test("needs an unmodified link", async () => {
    const [one, two] = [await upload(running.api), await upload(running.api)];
    const link = await linkTo(one.id);
    const changed = [
      link.replace(one.id, two.id),
      link.replace(/expires=\d+/, "expires=9999999999"),
      link.replace(/signature=(.)/, (_, first) => `signature=${first === "_" ? "-" : "_"}`),
      link.replace(/&signature=.*/, ""),
      `${link}&expires=9999999999`,
      link.split("?")[0]!,
    ];
    for (const url of changed) {
      const answer = await fetch(url);
      expect([url, answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        url,
        403,
        "FORBIDDEN",
      ]);
    }
    expect((await fetch(link)).status).toBe(200);
  });

  test("needs a link that has not expired", async () => {
    const { id } = await upload(running.api);
    const link = new URL(await linkTo(id));
    const { crypto } = running.app.database.scope("").ports;
    const signed = (expires: number) =>
      `${link.origin}${link.pathname}?expires=${expires}&signature=${crypto.sign(`${link.pathname}?${expires}`)}`;
    const now = Math.floor(Date.now() / 1000);
    expect((await fetch(signed(now + 60))).status).toBe(200);
    expect((await fetch(signed(now - 1))).status).toBe(403);
  });
});

describe("nothing is left in the storage", () => {
  test("of an aborted upload", async () => {
    const before = { files: await stored(), rows: await running.api.get(FILES, 200), temporary: temporary() };
    const headers = {
      "X-API-Key": running.secretKey,
      "Content-Type": "multipart/form-data; boundary=x",
      "Content-Length": "1000000",
    };
    await new Promise<void>((resolve) => {
      const { hostname, port } = new URL(running.url);
      const sent = request({ hostname, port, method: "POST", path: `${FILES}/upload`, headers });
      sent.on("error", () => resolve());
      sent.write(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + "x".repeat(200_000),
      );
      setTimeout(() => sent.destroy(new Error("broken off")), 100);
    });
    await upload(running.api); // what came before it was dealt with
    await until(() => temporary().every((name) => before.temporary.includes(name)));
    expect((await running.api.get(FILES, 200)).meta.itemCount).toBe(before.rows.meta.itemCount + 1);
    expect(await stored()).toHaveLength(before.files.length + 1);
    expect((await stored()).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  test("of a crash, after the grace period", async () => {
    const { id, organizationId } = await upload(running.api);
    const storage = storageOf(running);
    const orphans = ["0192f0c4-7d3a-7b41-9c55-2f6a1e0b9d11", "0192f0c4-7d3a-7b41-9c55-2f6a1e0b9d12.partial"];
    for (const name of orphans) await storage.put(`${organizationId}/${name}`, Readable.from(["left"]));
    await sweepFiles(running.app.database, storage);
    expect(await stored()).toEqual(expect.arrayContaining([...orphans, id]));
    await sweepFiles(running.app.database, storage, Date.now() + LATER_MS);
    for (const name of orphans) expect(await stored()).not.toContain(name);
    expect(await stored()).toContain(id);
  });

  test("of a crash, although the first of them cannot be removed", async () => {
    const { organizationId } = await upload(running.api);
    const storage = storageOf(running);
    for (const name of ["left-1", "left-2", "left-3"])
      await storage.put(`${organizationId}/${name}`, Readable.from(["left"]));
    let locked: string | undefined;
    const remove = async (key: string) => {
      locked ??= key;
      if (key === locked) throw new Error("is locked");
      await storage.remove(key);
    };
    const sweep = sweepFiles(running.app.database, { ...storage, remove }, Date.now() + LATER_MS);
    await expect(sweep).rejects.toThrow("is locked");
    expect((await stored()).filter((name) => name.startsWith("left-"))).toEqual([locked!.split("/")[1]]);
    await storage.remove(locked!);
  });
});
