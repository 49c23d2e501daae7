import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { closeRaw, rawRequest } from "../support/raw";

const running = useApp();
const ASSISTANTS = "/rest/v1/assistants";
const UPLOAD = "/rest/v1/files/upload";
const JSON_BODY = { "Content-Type": "application/json" };
let id = "";

beforeAll(async () => {
  id = (await running.api.post(ASSISTANTS, { name: "Ada" }, 200)).id;
});
afterAll(closeRaw);

const paths = ({ body }: { body: { details?: { path: string }[] } }) => body.details?.map(({ path }) => path);

describe("a page", () => {
  test.each([
    ["page=0", ["page"]],
    ["page=-1", ["page"]],
    ["page=1.5", ["page"]],
    ["page=1e2", ["page"]],
    ["page=", ["page"]],
    ["page=%205", ["page"]],
    ["page=99999999999", ["page"]],
    ["take=0", ["take"]],
    ["take=101", ["take"]],
    ["take=abc", ["take"]],
    ["take=NaN", ["take"]],
    ["take=%F0%9F%8E%89", ["take"]],
    ["order=up", ["order"]],
    ["order=DESC", ["order"]],
    ["page=1&page=2", ["page"]],
    ["page=0&take=101&order=up", ["order", "page", "take"]],
    ["page=100002&take=100", ["page"]],
    ["page=2147483647&take=100", ["page"]],
  ])("?%s returns 400 that names %j", async (query, wrong) => {
    for (const list of [
      ASSISTANTS,
      `${ASSISTANTS}/templates`,
      "/rest/v1/files",
      `${ASSISTANTS}/${id}/logs`,
    ]) {
      const answer = await running.api.request("GET", `${list}?${query}`);
      expect([list, answer.status, paths(answer)?.sort()]).toEqual([list, 400, wrong]);
    }
  });

  test("may start 10,000,000 entries in, and ignores unknown parameters", async () => {
    const { meta, data } = await running.api.get(`${ASSISTANTS}?page=100001&take=100&unknown=1`, 200);
    expect([meta.page, data]).toEqual([100_001, []]);
  });

  test("of logs rejects an unknown type, U+0000 in search, and invalid UTF-8", async () => {
    const logs = `${ASSISTANTS}/${id}/logs`;
    expect(paths(await running.api.request("GET", `${logs}?type=FAX&search=%00`))).toEqual([
      "type",
      "search",
    ]);
    for (const search of ["%ff", "%ED%A0%80", "%"])
      expect(paths(await running.api.request("GET", `${logs}?take=5&search=${search}`))).toEqual(["search"]);
    for (const search of ["%25", "_", "%5C", "'", "%F0%9F%8E%89"])
      await running.api.get(`${logs}?search=${search}`, 200);
  });
});

describe("a body", () => {
  test.each([
    ["{"],
    ["{'a':1}"],
    ['{"name":"A",}'],
    ["nul"],
    ["\0"],
    [Uint8Array.from([0x7b, 0xff, 0x7d])],
    [Uint8Array.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')])],
    ["[]"],
    ["null"],
    ["5"],
    ['"text"'],
  ])("of %j returns 400", async (body) => {
    const answer = await running.api.request("POST", ASSISTANTS, body, JSON_BODY);
    expect(answer).toMatchObject({ status: 400, body: { code: "BAD_USER_INPUT", details: [{ path: "" }] } });
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
    "",
  ])("of type %p returns 415", async (type) => {
    const answer = await running.api.request("POST", ASSISTANTS, Buffer.from('{"name":"A"}'), {
      "Content-Type": type,
    });
    expect(answer).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });

  test.each([ASSISTANTS, "/graphql", UPLOAD])(
    "of 100 MB to %s is rejected before it is sent",
    async (path) => {
      const type = path === UPLOAD ? "multipart/form-data; boundary=x" : "application/json";
      const headers = { "X-API-Key": running.secretKey, "Content-Type": type, "Content-Length": "100000000" };
      const answer = await rawRequest(running.url, { method: "POST", path, headers, headOnly: true });
      expect([answer.status, (JSON.parse(answer.text) as { code: string }).code]).toEqual([
        413,
        "PAYLOAD_TOO_LARGE",
      ]);
      await running.api.get("/health/ready", 200);
    },
  );

  test.each([ASSISTANTS, "/graphql", UPLOAD])(
    "beyond the limit is refused also if the client reads only after sending all of it, then closes: %s",
    async (path) => {
      const type = path === UPLOAD ? "multipart/form-data; boundary=x" : "application/json";
      const { hostname, port } = new URL(running.url);
      const head = [
        `POST ${path} HTTP/1.1`,
        ...["Host: a", "Connection: close", `X-API-Key: ${running.secretKey}`],
        ...[`Content-Type: ${type}`, `Content-Length: ${40 << 20}`, "", ""],
      ].join("\r\n");
      const answer = await new Promise<string>((resolve, reject) => {
        let received = "";
        const socket = connect(Number(port), hostname);
        socket.on("error", reject).on("close", () => resolve(received));
        socket.write(head);
        // As a blocking client: it reads nothing before everything is sent.
        socket.write(Buffer.alloc(40 << 20, "x"), () =>
          socket.on("data", (part) => (received += String(part))),
        );
      });
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
      expect(answer).toContain("PAYLOAD_TOO_LARGE");
    },
  );

  test("of 8 MiB is accepted, but not one byte more", async () => {
    const padded = (bytes: number) => `{"name":"A"${" ".repeat(bytes - 12)}}`;
    expect((await running.api.request("POST", ASSISTANTS, padded(8 * 1024 * 1024), JSON_BODY)).status).toBe(
      200,
    );
    expect(
      (await running.api.request("POST", ASSISTANTS, padded(8 * 1024 * 1024 + 1), JSON_BODY)).status,
    ).toBe(413);
  });
});

describe("an id", () => {
  const shapes = [
    "x",
    "0",
    "-1",
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "%20",
    "%F0%9F%8E%89",
    "..%2f..%2fx",
    "'%20or%201=1--",
    "a".repeat(4_000),
    "00000000-0000-0000-0000-000000000000",
    "%7B%7D",
    "[]",
  ];
  test.each(shapes)("of the format %p is unknown", async (shape) => {
    const { api } = running;
    for (const path of ["", "/voice", "/sms", "/chat", "/theme", "/logs", "/log/x"])
      expect(await api.get(`${ASSISTANTS}/${shape}${path}`, 400)).toMatchObject({
        code: "ASSISTANT_NOT_FOUND",
      });
    await api.delete(`${ASSISTANTS}/${shape}`, 400);
    await api.post(`${ASSISTANTS}/duplicate/${shape}`, undefined, 400);
    expect(await api.get(`${ASSISTANTS}/${id}/log/${shape}`, 404)).toMatchObject({ code: "LOG_NOT_FOUND" });
    expect(await api.get(`/rest/v1/organization/keys/${shape}`, 404)).toMatchObject({
      code: "KEY_NOT_FOUND",
    });
    expect(await api.get(`/rest/v1/files/${shape}/download`, 404)).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await api.delete(`/rest/v1/settings/${shape}`, 404)).toMatchObject({
      code: "WEBHOOK_DESTINATION_NOT_FOUND",
    });
  });

  test.each(["%00", "%", "%zz", "%ff", "%ED%A0%80"])(
    "that cannot be text (%s) returns 400 that names it",
    async (shape) => {
      for (const [path, name] of [
        [`${ASSISTANTS}/${shape}`, "id"],
        [`/rest/v1/organization/keys/${shape}`, "keyId"],
      ]) {
        const { status, text } = await rawRequest(running.url, {
          path: path!,
          headers: { "X-API-Key": running.secretKey },
        });
        expect([status, paths({ body: JSON.parse(text) as object })]).toEqual([400, [name]]);
      }
    },
  );
});

describe("a request that is malformed HTTP, or too long, gets an answer in JSON:", () => {
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(running.url);
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = "";
      socket.on("data", (chunk) => (answer += chunk.toString()));
      socket.on("close", () => resolve(answer));
    });

  test.each([
    ["garbage", "HELLO\r\n\r\n", 400, "BAD_USER_INPUT"],
    [
      "a long address",
      `GET /rest/v1/assistants?search=${"a".repeat(20_000)} HTTP/1.1\r\n`,
      431,
      "PAYLOAD_TOO_LARGE",
    ],
  ])("%s", async (_, text, status, code) => {
    const [head = "", body = ""] = (await send(text)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .+\r\n(.+\r\n)*Content-Type: application/json`));
    expect(JSON.parse(body)).toEqual({
      statusCode: status,
      error: expect.any(String),
      message: expect.any(String),
      code,
      requestId: expect.any(String),
    });
  });

  test.each(["GET", "POST", "OPTIONS"])("%s of an invalid URL", async (method) => {
    const head = `${method} http://[ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const [headers = "", body = ""] = (await send(head)).split("\r\n\r\n");
    expect(headers).toMatch(/^HTTP\/1.1 404 .+\r\nX-Request-Id: (.+)\r\n/);
    const [, requestId] = /X-Request-Id: (.+)\r\n/.exec(headers)!;
    expect(JSON.parse(body)).toMatchObject({ statusCode: 404, code: "NOT_FOUND", requestId });
  });

  test("one without the header Host, which the answer names", async () => {
    const [, body = ""] = (await send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")).split("\r\n\r\n");
    expect(JSON.parse(body)).toMatchObject({ statusCode: 400, details: [{ path: "Host" }] });
  });

  test("except one with an unknown expectation, which is answered normally", async () => {
    const answer = await send(
      "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 OK/);
  });
});
