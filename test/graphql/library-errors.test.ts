import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse, specifiedRules, validate } from "graphql";
import { GRAPHQL_TRANSPORT_WS_PROTOCOL as PROTOCOL } from "graphql-ws";
import { WebSocket } from "ws";
import { bodyProblem, closeReason, documentMessage } from "../../src/http/errors/library-messages";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { PARSE_ERRORS, VALIDATION_ERRORS } from "../support/document-errors";
import { FORM_ERRORS } from "../support/form-errors";
import { FORGED, TRANSPORT_ERRORS, type LibraryError } from "../support/library-errors";

const running = useApp();

/** Words that only the author of a server understands. */
const INTERNALS =
  /apollo server|graphql-js|graphql-upload|github\.com|armor|multipart field|<EOF>|search parameter|recursively/i;
const matching = (text: string | RegExp) => (typeof text === "string" ? text : expect.stringMatching(text));

async function expectError(api: Api, [, sent, status, code, text]: LibraryError): Promise<void> {
  const { method = "POST", path = "", body, headers } = sent;
  const answer = await api.request(method, `/graphql${path}`, body, headers ?? {});
  const [error] = answer.body.errors;
  expect([answer.status, error.extensions.code, error.message]).toEqual([status, code, matching(text)]);
  expect(answer.text).not.toMatch(INTERNALS);
}

const named = (rows: readonly LibraryError[]) => rows.map((row) => [row[0], row] as const);

describe("a request that a library refuses gets its status, a code, and a message for its author:", () => {
  test.each(named([...TRANSPORT_ERRORS, ...FORM_ERRORS]))("%s", (_name, row) =>
    expectError(running.api, row),
  );

  test.each(named(FORGED))("%s that a page of another site could send", (_name, row) =>
    expectError(running.api.as({}), row),
  );

  test.each(PARSE_ERRORS)("a document that %s", (name, query, text) =>
    expectError(running.api, [name, { body: { query } }, 400, "GRAPHQL_PARSE_FAILED", text]),
  );

  test.each(VALIDATION_ERRORS)("%s", (query, text) =>
    expectError(running.api, [query, { body: { query } }, 400, "GRAPHQL_VALIDATION_FAILED", text]),
  );

  test("every validation rule refuses one of these documents", () => {
    const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
    const documents = VALIDATION_ERRORS.map(([query]) => parse(query));
    const unused = specifiedRules.filter((rule) =>
      documents.every((document) => validate(schema, document, [rule]).length === 0),
    );
    expect(unused.map(({ name }) => name)).toEqual([]);
  });
});

describe("a WebSocket is closed with a reason that says what to do:", () => {
  const init = { type: "connection_init", payload: () => ({ "X-API-Key": running.secretKey }) };
  const subscribe = (id: string) => ({
    ...{ id, type: "subscribe" },
    payload: { query: "subscription { organizationEvents { id } }" },
  });
  const withPayload = (message: object) =>
    JSON.stringify(message, (_name, value: unknown) =>
      typeof value === "function" ? (value as () => object)() : value,
    );

  test.each([
    ["no protocol", [], [], 4406, "Connect with the WebSocket protocol graphql-transport-ws."],
    ["no JSON", PROTOCOL, ["{"], 4400, /^Not a message of graphql-transport-ws: send JSON/],
    [
      "an unknown type",
      PROTOCOL,
      [{ type: "start" }],
      4400,
      /^Not a message of graphql-transport-ws: send JSON/,
    ],
    [
      "a subscription first",
      PROTOCOL,
      [subscribe("1")],
      4401,
      "Send connection_init first, and subscribe after connection_ack.",
    ],
    [
      "no credential",
      PROTOCOL,
      [{ type: "connection_init" }],
      4403,
      /^No valid credential: send X-API-Key, .* in the payload of connection_init\.$/,
    ],
    ["connection_init twice", PROTOCOL, [init, init], 4429, "Send connection_init only once per connection."],
    [
      "an id twice",
      PROTOCOL,
      [init, subscribe("1"), subscribe("1")],
      4409,
      /^A subscription with this id is open: use another id/,
    ],
  ])("%s", async (_name, protocol, messages, code, reason) => {
    const socket = new WebSocket(`${running.url.replace("http", "ws")}/graphql`, protocol);
    const closed = new Promise((resolve) =>
      socket.on("close", (...[status, text]: [number, Buffer]) => resolve([status, text.toString()])),
    );
    const acknowledged = new Promise((resolve) => socket.once("message", resolve));
    await new Promise((resolve) => socket.once("open", resolve));
    for (const [at, message] of messages.entries()) {
      if (at === 1 && code === 4409) await acknowledged;
      socket.send(typeof message === "string" ? message : withPayload(message));
    }
    expect(await closed).toEqual([code, matching(reason)]);
  });
});

describe("every message of a library for clients has a sentence of ours, also after an upgrade:", () => {
  const textsIn = (path: string, pattern: RegExp) => {
    const source = readFileSync(join(__dirname, "../../node_modules", path), "utf8");
    return [...source.matchAll(pattern)].map(([, , text]) => text!.replaceAll(/\$\{[^}]+\}/g, "0"));
  };
  const SOCKET_SERVER = readdirSync(join(__dirname, "../../node_modules/graphql-ws/dist")).find((name) =>
    /^server-.*\.js$/.test(name),
  );
  /** Needs a directive that the schema lacks, or is part of the protocol of persisted queries. */
  const NOT_SENT =
    /^Apollo server received an operation that uses incremental|^No operations found in request/;

  test.each([
    [
      "Apollo Server",
      "@apollo/server/dist/cjs/runHttpQuery.js",
      /BadRequestError\(\s*(["'`])(.+?)\1[),\s]/g,
      documentMessage,
    ],
    [
      "its batches",
      "@apollo/server/dist/cjs/httpBatching.js",
      /BadRequestError\(\s*(["'`])(.+?)\1\)/g,
      documentMessage,
    ],
    [
      "its operations",
      "@apollo/server/dist/cjs/requestPipeline.js",
      /(?:BadRequestError|graphql_1\.GraphQLError)\(\s*(["'`])(.+?)\1[),]/g,
      documentMessage,
    ],
    [
      "graphql-upload",
      "graphql-upload/processRequest.mjs",
      /createError\(\s*400,\s*(["'`])(.+?)\1,?\s*\)/g,
      bodyProblem,
    ],
    [
      "graphql-ws",
      `graphql-ws/dist/${SOCKET_SERVER}`,
      /socket\.close\(\s*CloseCode\.\w+,\s*(["'`])(.+?)\1\s*\)/g,
      closeReason,
    ],
  ])("%s", (_name, path, pattern, rewritten) => {
    const texts = textsIn(path, pattern).filter((text) => !NOT_SENT.test(text));
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter((text) => [text, undefined].includes(rewritten(text)))).toEqual([]);
  });

  test("and the reason of a closed socket fits into its frame", () => {
    const reasons = [
      "Forbidden",
      "Unauthorized",
      "Connection initialisation timeout",
      "Invalid message received",
    ];
    for (const reason of reasons) expect(Buffer.byteLength(closeReason(reason))).toBeLessThanOrEqual(123);
  });
});
