import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "@jest/globals";
import { SlowReaders } from "../../src/http/slow-readers";
import { UnfinishedBodies } from "../../src/http/unfinished-bodies";
import { newId } from "../../src/platform/database/values/ids";
import { useApp } from "../support/app";
import { closeRaw, rawRequest } from "../support/raw";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp();
const CALLBACK = "/rest/v1/webhooks/vapi/server-messages";
const JSON_TYPE = "application/json";

afterAll(closeRaw);

/** Opens a connection, sends the head of a POST request, and collects the answer. */
function post(path: string, headers: Readonly<Record<string, string | number>>) {
  const socket = connect(Number(new URL(running.url).port), "127.0.0.1");
  afterTest(() => void socket.destroy());
  const opened = { socket, answer: "", closed: false };
  socket.on("error", () => undefined).on("close", () => (opened.closed = true));
  socket.on("data", (bytes: Buffer) => (opened.answer += bytes.toString("utf8")));
  const lines = Object.entries({ Host: new URL(running.url).host, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`);
  return opened;
}

async function write(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (!socket.write(bytes)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
}

describe("a body in HTTP chunks of one byte", () => {
  const TEXT = "a".repeat(50_000);
  const CREATE = "mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { variables } }";
  const input = { name: "Ada", variables: { text: TEXT } };
  const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${TEXT}\r\n--x--\r\n`;

  test.each([
    ["of REST", "/rest/v1/assistants", JSON_TYPE, JSON.stringify(input), TEXT],
    ["of GraphQL", "/graphql", JSON_TYPE, JSON.stringify({ query: CREATE, variables: { input } }), TEXT],
    ["with a form", "/rest/v1/files/upload", "multipart/form-data; boundary=x", form, '"size":50000'],
  ])("%s is read as it is, in pieces of some size", async (_name, path, type, body, expected) => {
    let pieces = 0;
    running.app.server.prependOnceListener("request", (request: IncomingMessage) => {
      const emit = request.emit.bind(request) as (...args: unknown[]) => boolean;
      request.emit = ((...args: unknown[]) => {
        if (args[0] === "data") pieces++;
        return emit(...args);
      }) as typeof request.emit;
    });
    const headers = { "X-API-Key": running.secretKey, "Content-Type": type, "Transfer-Encoding": "chunked" };
    const sent = post(path, { ...headers, Connection: "close" });
    const chunks = Array.from(body, (character) => `1\r\n${character}\r\n`);
    await write(sent.socket, `${chunks.join("")}0\r\n\r\n`);
    await until(() => sent.closed);
    expect(sent.answer).toMatch(/^HTTP\/1\.1 20/);
    expect(sent.answer).toContain(expected);
    expect(pieces).toBeLessThan(10);
  });
});

describe("bodies that do not end", () => {
  const part = Buffer.alloc(1_000_000, " ");
  /** Lacks its checksum, so it does not end. */
  const compressed = gzipSync(Buffer.concat([part, randomBytes(40_000)])).subarray(0, -8);
  const held = (path: string) => async () => {
    const sent = post(path, { "Content-Type": JSON_TYPE, "Content-Length": 8_000_000 });
    await write(sent.socket, part);
    return sent;
  };
  const bomb = (path: string) => async () => {
    const headers = { "Content-Type": JSON_TYPE, "Content-Encoding": "gzip", "Content-Length": 100_000 };
    const sent = post(path, headers);
    await write(sent.socket, compressed);
    return sent;
  };

  test.each([
    ["callbacks", held(CALLBACK)],
    ["compressed callbacks", bomb(CALLBACK)],
    ["GraphQL requests", held("/graphql")],
    ["compressed GraphQL requests", bomb("/graphql")],
  ])("of %s are cut off, the first ones first, when all together are too long", async (_name, begin) => {
    const { limit } = UnfinishedBodies;
    afterTest(() => void (UnfinishedBodies.limit = limit));
    UnfinishedBodies.limit = 3_500_000;
    const small = post(CALLBACK, { "Content-Type": JSON_TYPE, "Content-Length": 10_000 });
    await write(small.socket, "{".padEnd(9_999));
    const sent: ReturnType<typeof post>[] = [];
    for (let count = 0; count < 6; count++) sent.push(await begin());
    await until(() => sent.filter(({ closed }) => closed).length >= 3);
    expect(sent.map(({ closed }) => closed)).toEqual([true, true, true, false, false, false]);
    const large = { name: "Ada", variables: { text: "a".repeat(300_000) } };
    await running.api.post("/rest/v1/assistants", large, 200);
    await write(small.socket, "}");
    await until(() => small.answer.startsWith("HTTP/1.1 201"));
    for (const { socket } of sent) socket.destroy();
  });
});

test("a client that does not read its response is disconnected", async () => {
  const { timeoutMs } = SlowReaders;
  afterTest(() => void (SlowReaders.timeoutMs = timeoutMs));
  SlowReaders.timeoutMs = 500;
  const body = { name: "Ada", variables: { text: "a".repeat(900_000) } };
  const { id } = await running.api.post("/rest/v1/assistants", body, 200);
  const aliases = Array.from({ length: 15 }, (_, n) => `a${n}: assistant(id: "${id}") { variables }`);
  const query = JSON.stringify({ query: `{ ${aliases.join(" ")} }` });
  let served: Socket | undefined;
  running.app.server.once("connection", (socket: Socket) => (served = socket));
  const headers = { "X-API-Key": running.secretKey, "Content-Type": JSON_TYPE };
  const { socket } = post("/graphql", { ...headers, "Content-Length": query.length });
  socket.pause();
  await write(socket, query);
  await until(() => served?.destroyed === true);
});

test("an operation begins when the file in its form has arrived, so a slow client does not use up its time", async () => {
  const query = "mutation ($file: Upload!) { uploadFile(file: $file) { id size } }";
  const field = (name: string, value: object) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${JSON.stringify(value)}\r\n`;
  const file = 'Content-Disposition: form-data; name="0"; filename="a.txt"';
  const begin = `${field("operations", { query, variables: { file: null } })}${field("map", { 0: ["variables.file"] })}--x\r\n${file}\r\n\r\nslow `;
  const end = "words\r\n--x--\r\n";
  const headers = { "X-API-Key": running.secretKey, "Content-Type": "multipart/form-data; boundary=x" };
  const length = Buffer.byteLength(begin + end);
  const sent = post("/graphql", { ...headers, "Content-Length": length, "Apollo-Require-Preflight": "true" });
  await write(sent.socket, begin);
  for (let requests = 0; requests < 20; requests++) await running.api.gql("{ organization { name } }");
  const before = newId();
  await write(sent.socket, end);
  await until(() => sent.answer.includes('"size":10'));
  expect(/"id":"([^"]+)"/.exec(sent.answer)![1]! > before).toBe(true);
});

const token = async (): Promise<string> =>
  (await running.api.post("/rest/v1/organization/token", {}, 200)).token as string;

const REFUSED: [name: string, status: number, credential: () => Promise<Record<string, string>>][] = [
  ["without a credential", 401, () => Promise.resolve({})],
  ["with a PUBLIC key", 403, () => Promise.resolve({ "X-API-Key": running.publicKey })],
  ["with a token", 401, async () => ({ Authorization: `Bearer ${await token()}` })],
];

test.each(REFUSED)(
  "a form of GraphQL %s is refused before its file is read, which only a SECRET key may upload",
  async (_name, status, credential) => {
    const form = { "Content-Type": "multipart/form-data; boundary=x", "Content-Length": "20000" };
    const headers = { ...form, "Apollo-Require-Preflight": "true", ...(await credential()) };
    const options = { method: "POST", path: "/graphql", headers, headOnly: true };
    expect((await rawRequest(running.url, options)).status).toBe(status);
  },
);
