import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { print, type DocumentNode } from "graphql";
import pino from "pino";
import ownOperations from "../../src/http/graphql/own-operations.json";
import { startApp, useApp } from "../support/app";
import { newAssistant, newChat } from "../support/factories";
import { Subscriber } from "../support/subscriber";

const READ = `query ReadAssistant($id: ID!) {
  assistant(id: $id) {
    id
    name
    __typename
  }
}`;
const RENAME =
  "mutation Rename($id: ID!, $name: String!) { updateAssistant(id: $id, input: {name: $name}) { name } }";
const WATCH = 'subscription Watch($chatId: ID!) { chatEvents(chatId: $chatId, after: "0") { id name } }';
const STALE = "query Stale { assistants { data { inventedField } } }";
const UPLOAD = "mutation Upload($file: Upload!) { uploadFile(file: $file) { name } }";
const idOf = (text: string) => createHash("sha256").update(text).digest("hex");
const operation = (name: string, type: string, body: string) => ({ id: idOf(body), name, type, body });
const manifest = {
  format: "apollo-persisted-query-manifest",
  version: 1,
  operations: [
    operation("ReadAssistant", "query", READ),
    operation("Rename", "mutation", RENAME),
    operation("Watch", "subscription", WATCH),
    operation("Stale", "query", STALE),
    operation("Upload", "mutation", UPLOAD),
  ],
};
const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

const folder = mkdtempSync(join(tmpdir(), "parley-manifest-"));
const path = join(folder, "manifest.json");
const running = useApp();
const settings = (mode: string) => ({
  ...{ GRAPHQL_PERSISTED: mode, GRAPHQL_PERSISTED_MANIFEST: path },
  DATA_DIR: running.dataDir, // servers of an installation share their files
});
const log: string[] = [];
const servers: Record<string, Awaited<ReturnType<typeof startApp>>> = {};
beforeAll(async () => {
  writeFileSync(path, JSON.stringify(manifest));
  const logger = pino({ level: "warn" }, { write: (line: string) => void log.push(line) });
  for (const mode of ["allow", "only"])
    servers[mode] = await startApp(running.database, settings(mode), logger);
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});

const post = (mode: string, body: object) => servers[mode]!.api.request("POST", "/graphql", body);
const NOT_IN_LIST = {
  status: 400,
  body: {
    code: "PERSISTED_QUERY_NOT_IN_LIST",
    errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_IN_LIST", requestId: expect.any(String) } }],
  },
};

describe.each(["allow", "only"])("with GRAPHQL_PERSISTED=%s", (mode) => {
  const server = () => servers[mode]!;

  test("an operation runs by its id, by POST and by GET", async () => {
    const id = await newAssistant(running.api, { name: "Front desk" });
    const expected = { data: { assistant: { id, name: "Front desk" } } };
    const variables = { id };
    expect((await post(mode, { ...persisted(idOf(READ)), variables })).body).toMatchObject(expected);
    const parameters = Object.entries({ ...persisted(idOf(READ)), variables }).map(
      ([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`,
    );
    const got = await server().api.request("GET", `/graphql?${parameters.join("&")}`);
    expect(got.body).toMatchObject(expected);
    const renamed = await post(mode, { ...persisted(idOf(RENAME)), variables: { id, name: "Desk" } });
    expect(renamed.body).toMatchObject({ data: { updateAssistant: { name: "Desk" } } });
  });

  test("mutations are not run by GET", async () => {
    const search = `extensions=${encodeURIComponent(JSON.stringify(persisted(idOf(RENAME)).extensions))}`;
    expect(await server().api.request("GET", `/graphql?${search}`)).toMatchObject({ status: 405 });
  });

  test("a file is uploaded by an operation's id", async () => {
    const form = new FormData();
    form.set("operations", JSON.stringify({ ...persisted(idOf(UPLOAD)), variables: { file: null } }));
    form.set("map", JSON.stringify({ 0: ["variables.file"] }));
    form.set("0", new Blob(["Open from 9 to 5"], { type: "text/plain" }), "hours.txt");
    const headers = { "X-API-Key": server().secretKey };
    const answer = await fetch(`${server().url}/graphql`, { method: "POST", headers, body: form });
    expect(await answer.json()).toEqual({
      data: { uploadFile: { name: "hours.txt" } },
      extensions: expect.anything(),
    });
  });

  test("Apollo Client sends ids instead of documents", async () => {
    const id = await newAssistant(running.api, { name: "Bea" });
    const sent: string[] = [];
    const link = new PersistedQueryLink({
      generateHash: (document: DocumentNode) => idOf(print(document)),
      disable: () => false,
    }).concat(
      new HttpLink({
        uri: `${server().url}/graphql`,
        headers: { "X-API-Key": server().secretKey },
        fetch: (url, init) => {
          sent.push(init!.body as string);
          return fetch(url, init);
        },
      }),
    );
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const { data } = await client.query({ query: gql(READ), variables: { id } });
    expect([data, sent]).toEqual([
      { assistant: { id, name: "Bea", __typename: "Assistant" } },
      [expect.not.stringContaining("query ")],
    ]);
  });

  test("a subscription runs by its id over a WebSocket", async () => {
    const chatId = await newChat(running.api, await newAssistant(running.api));
    const subscriber = new Subscriber(server().url, { "X-API-Key": server().secretKey });
    const first = await new Promise((resolve) => {
      const payload = { query: "", variables: { chatId }, ...persisted(idOf(WATCH)) };
      void subscriber.send(payload, resolve).then(resolve);
    });
    await subscriber.close();
    expect(first).toEqual({ chatEvents: { id: expect.any(String), name: expect.any(String) } });
  });

  test("an operation that the schema refuses is logged at the start, and fails like any other document", async () => {
    expect(log.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({
        msg: "An operation of GRAPHQL_PERSISTED_MANIFEST does not fit the schema.",
        problem: 'Stale: Cannot query field "inventedField" on type "Assistant".',
      }),
    );
    expect(await post(mode, persisted(idOf(STALE)))).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] },
    });
  });
});

describe("with GRAPHQL_PERSISTED=allow", () => {
  test("all other documents run", async () => {
    const { body } = await post("allow", { query: "{ organization { id } }" });
    expect(body).toMatchObject({ data: { organization: { id: expect.any(String) } } });
  });

  test("an unknown id asks for the document, which then has an id for a while", async () => {
    const query = "{ organization { name } }";
    const known = { data: { organization: { name: expect.any(String) } } };
    expect((await post("allow", persisted(idOf(query)))).body).toMatchObject({
      errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_FOUND" } }],
    });
    expect((await post("allow", { query, ...persisted(idOf(query)) })).body).toMatchObject(known);
    expect((await post("allow", persisted(idOf(query)))).body).toMatchObject(known);
  });
});

describe("with GRAPHQL_PERSISTED=only", () => {
  const OTHER = "{ organization { id } }";

  test.each([
    ["a document", { query: OTHER }],
    ["a document with its id", { query: OTHER, ...persisted(idOf(OTHER)) }],
    ["a document with the id of another", { query: OTHER, ...persisted(idOf(READ)) }],
    ["an unknown id", persisted(idOf(OTHER))],
    ["introspection", { query: "{ __schema { queryType { name } } }" }],
    ["what is no document", { query: "{" }],
  ])("%s is refused if it is not in the list", async (_what, body) => {
    expect(await post("only", body)).toMatchObject(NOT_IN_LIST);
    const search = Object.entries(body as Record<string, unknown>).map(
      ([name, value]) =>
        `${name}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`,
    );
    expect(await servers.only!.api.request("GET", `/graphql?${search.join("&")}`)).toMatchObject(NOT_IN_LIST);
  });

  test("a subscription is refused over a WebSocket if it is not in the list", async () => {
    const subscriber = new Subscriber(servers.only!.url, { "X-API-Key": running.secretKey });
    const query = "subscription { organizationEvents { id } }";
    for (const payload of [{ query }, { query: "", ...persisted(idOf(query)) }])
      expect(await subscriber.send(payload, () => undefined)).toEqual([
        expect.objectContaining({
          extensions: expect.objectContaining({ code: "PERSISTED_QUERY_NOT_IN_LIST" }),
        }),
      ]);
    await subscriber.close();
  });

  test("the text of a listed operation runs, whatever its white space", async () => {
    const id = await newAssistant(running.api);
    for (const query of [READ, READ.replace(/\s+/g, " "), READ.replaceAll("\n", "\n\n")])
      expect((await post("only", { query, variables: { id } })).body).toMatchObject({
        data: { assistant: { id } },
      });
  });

  test("the operations of the widget and the analytics page run", async () => {
    expect(ownOperations.length).toBeGreaterThan(10);
    for (const query of ownOperations.filter((text) => !text.startsWith("subscription")))
      expect((await post("only", { query })).text).not.toContain("PERSISTED_QUERY");
  });
});

describe("a manifest stops the start", () => {
  const start = (content: string) => {
    const file = join(folder, "invalid.json");
    writeFileSync(file, content);
    return startApp(running.database, { GRAPHQL_PERSISTED: "only", GRAPHQL_PERSISTED_MANIFEST: file }).then(
      () => "started",
      (error: Error) => error.message.replace(file, "FILE"),
    );
  };
  const withOperations = (...operations: object[]) => JSON.stringify({ ...manifest, operations });

  test.each([
    ["is no JSON", "{", /^GRAPHQL_PERSISTED_MANIFEST FILE is invalid:\n {2}- .*JSON/],
    [
      "has another format",
      JSON.stringify({ ...manifest, format: "other", version: 2 }),
      /format must be "apollo-persisted-query-manifest"\n {2}- version must be 1$/,
    ],
    [
      "has an operation that is no document",
      withOperations(operation("Bad", "query", "query {")),
      /operations\.0\.body is not a GraphQL document$/,
    ],
    [
      "has an id twice",
      withOperations(operation("A", "query", READ), { ...operation("B", "query", RENAME), id: idOf(READ) }),
      /two operations have the id [0-9a-f]{64}$/,
    ],
  ])("that %s", async (_what, content, message) => {
    expect(await start(content)).toMatch(message);
  });

  test("that does not exist", async () => {
    const missing = { GRAPHQL_PERSISTED: "only", GRAPHQL_PERSISTED_MANIFEST: "/nowhere.json" };
    await expect(startApp(running.database, missing)).rejects.toThrow(
      "GRAPHQL_PERSISTED_MANIFEST /nowhere.json is invalid:\n  - ENOENT",
    );
  });

  test.each([
    [{ GRAPHQL_PERSISTED: "only" }, "GRAPHQL_PERSISTED=only also needs GRAPHQL_PERSISTED_MANIFEST"],
    [{ GRAPHQL_PERSISTED_MANIFEST: "x.json" }, "GRAPHQL_PERSISTED_MANIFEST also needs GRAPHQL_PERSISTED"],
  ])("and %p is refused", async (settings, message) => {
    await expect(startApp(running.database, settings)).rejects.toThrow(message);
  });
});
