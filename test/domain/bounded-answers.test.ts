import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { BoundedAnswers, BOUNDS, MAX_MODEL_TEXT_BYTES, type Bound } from "../../src/platform/outbound/bounds";
import { outbound } from "../../src/platform/outbound/http";
import { aiSdkEmbeddings } from "../../src/platform/providers/ai-sdk-embeddings";
import { aiSdkModel } from "../../src/platform/providers/ai-sdk-model";
import { openStorage } from "../../src/platform/providers/open-storage";
import { configOf } from "../support/config";

const KIB = 1_024;
const MIB = 1_024 * KIB;
type Behavior = (req: IncomingMessage, res: ServerResponse) => void;

/** Writes the same piece repeatedly, as fast as it is read. */
function endless(res: ServerResponse, piece: string): void {
  const write = () => {
    while (!res.destroyed && res.write(piece));
  };
  res.on("drain", write);
  write();
}
const delta = (content: string) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const events = { "content-type": "text/event-stream" };
const behaviors: Readonly<Record<string, Behavior>> = {
  "streams endless words": (_req, res) => endless(res.writeHead(200, events), delta("word ".repeat(200))),
  "streams endless comments": (_req, res) => endless(res.writeHead(200, events), `: ${"x".repeat(100)}\n`),
  "streams an endless line": (_req, res) => endless(res.writeHead(200, events), "x".repeat(10_000)),
  "sends an endless body": (_req, res) =>
    endless(res.writeHead(200, { "content-type": "application/json" }), "[1,2,3],\n".repeat(1_000)),
  "sends a bomb": (_req, res) =>
    void res
      .writeHead(200, { ...events, "content-encoding": "gzip" })
      .end(gzipSync(Buffer.alloc(64 * MIB, "\n"))),
  "sends only headers": (_req, res) => void res.writeHead(200, events).flushHeaders(),
};

let behave: Behavior = (_req, res) => void res.end();
let url = "";
let sent = 0;
const server = createServer((req, res) => {
  req.resume();
  const write = res.write.bind(res) as (chunk: string) => boolean;
  res.write = ((chunk: string) => ((sent += chunk.length), write(chunk))) as typeof res.write;
  behave(req, res);
});
const reach = outbound(["127.0.0.0/8"]);
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await reach.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

let told: [provider: string, bound: string][] = [];
beforeEach(() => {
  told = [];
  sent = 0;
});
const answers = new BoundedAnswers((_error, provider, bound) => void told.push([provider, bound]));

const model = { id: "M", provider: "OPENAI", model: "m" } as never;
const credential = (guarded: boolean) => ({ apiKey: "key", baseUrl: `${url}/v1`, guarded });
async function ask(guarded: boolean): Promise<unknown> {
  const signal = AbortSignal.timeout(20_000);
  const request = {
    model,
    credential: credential(guarded),
    system: "",
    tools: [],
    temperature: 0,
    maxTokens: 9,
  };
  const messages = [{ role: "user", content: "Hello" }];
  const parts = aiSdkModel(reach.fetch, answers).stream({ ...request, messages, signal } as never);
  for await (const part of parts) void part;
  return undefined;
}

describe.each([
  ["at an address of the operator", false],
  ["at an address of a customer", true],
])("a model %s", (_where, guarded) => {
  test.each([
    ["streams endless words", `${MAX_MODEL_TEXT_BYTES} bytes of text`],
    ["streams endless comments", `${BOUNDS.model.bytes} bytes`],
    ["streams an endless line", `${BOUNDS.model.line} bytes in a line`],
  ])("that %s is cut off, and the error names the limit", async (what, bound) => {
    behave = behaviors[what]!;
    await expect(ask(guarded)).rejects.toThrow();
    expect(told).toContainEqual(["OPENAI", bound]);
    expect(sent).toBeLessThan(32 * MIB);
  });

  test("that sends a decompression bomb is cut off", async () => {
    behave = behaviors["sends a bomb"]!;
    await expect(ask(guarded)).rejects.toThrow();
    if (!guarded) expect(told).toContainEqual(["OPENAI", `${BOUNDS.model.bytes} bytes`]);
  });
});

describe("any provider asked by fetch", () => {
  const bound: Bound = { bytes: MIB, line: 64 * KIB, milliseconds: 300 };
  const get = async (limits: Bound) =>
    (await answers.fetch(fetch, "a provider", limits)(url, { signal: AbortSignal.timeout(20_000) })).text();

  test.each([
    ["sends an endless body", `${MIB} bytes`, { ...bound, milliseconds: 20_000 }],
    ["streams an endless line", `${64 * KIB} bytes in a line`, { ...bound, milliseconds: 20_000 }],
    ["sends a bomb", `${MIB} bytes`, { ...bound, milliseconds: 20_000 }],
    ["sends only headers", "300 ms", bound],
  ])("that %s is cut off, and the error names the limit", async (what, passed, limits) => {
    behave = behaviors[what]!;
    await expect(get(limits)).rejects.toThrow(`The answer of a provider exceeds ${passed}.`);
    expect(told).toEqual([["a provider", passed]]);
  });

  test("is read completely if the answer is within the limit", async () => {
    behave = (_req, res) => void res.end(`${"x".repeat(64 * KIB)}\n`.repeat(10));
    expect(await get({ ...bound, milliseconds: 20_000 })).toHaveLength(10 * (64 * KIB + 1));
    behave = (_req, res) => void res.writeHead(204).end();
    expect(await get({ ...bound, milliseconds: 20_000 })).toBe("");
    expect(told).toEqual([]);
  });

  test("is not reported when the caller aborts the request", async () => {
    behave = behaviors["sends only headers"]!;
    const giving = answers.fetch(fetch, "a provider", bound)(url, { signal: AbortSignal.timeout(50) });
    await expect(giving.then((answer) => answer.text())).rejects.toThrow();
    // The limit of a later request passes after that of the aborted one.
    await expect(get(bound)).rejects.toThrow();
    expect(told).toEqual([["a provider", "300 ms"]]);
  });
});

test("an embedding model that sends an endless answer is cut off at 16 MiB", async () => {
  behave = behaviors["sends an endless body"]!;
  const signal = AbortSignal.timeout(30_000);
  const asked = aiSdkEmbeddings(reach.fetch, answers).embed(["text"], {
    model: "m",
    credential: credential(true),
    signal,
  });
  await expect(asked).rejects.toThrow();
  expect(told).toEqual([["the embedding model", `${16 * MIB} bytes`]]);
});

test("a file store that sends an endless list is cut off", async () => {
  behave = (_req, res) =>
    endless(
      res.writeHead(200, { "content-type": "application/xml" }),
      "<ListBucketResult></ListBucketResult>\n",
    );
  const storage = openStorage(
    configOf({ S3_BUCKET: "files", S3_ENDPOINT: url, S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "key" }),
    answers,
  );
  await expect(storage.list()[Symbol.asyncIterator]().next()).rejects.toThrow();
  expect(told[0]).toEqual(["the store of files", `${4 * MIB} bytes`]);
});

test("a function that sends an endless answer is cut off at its limit, which the error names; a webhook without one", async () => {
  behave = behaviors["sends an endless body"]!;
  const bounded = outbound(["127.0.0.0/8"], undefined, answers);
  const request = { url, body: "{}", headers: {}, timeoutMs: 10_000, readBytes: 64 * KIB };
  // A webhook's answer is not used, so its length is no error.
  expect(await bounded.post(request)).toMatchObject({ kind: "answered", complete: false });
  expect(told).toEqual([]);
  const outcome = await bounded.post({ ...request, provider: "the server of a function" });
  expect(outcome).toMatchObject({ kind: "answered", complete: false });
  expect(told).toEqual([["the server of a function", `${64 * KIB} bytes`]]);
  await bounded.close();
});
