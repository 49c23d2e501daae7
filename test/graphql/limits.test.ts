import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  lexicographicSortSchema,
  parse,
  printSchema,
  type IntrospectionQuery,
} from "graphql";
import { Engine } from "../../rest-compat/run";
import type { Context } from "../../schema/core/context";
import { deadlineOf } from "../../schema/core/deadline";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { startApp, useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();

/** Status of the response, and message and code of its first error. */
async function refusal(query: string, variables: Record<string, unknown> = {}) {
  const { status, body } = await running.api.graphql(query, variables);
  return {
    status,
    message: body.errors?.[0]?.message ?? body.message,
    code: body.errors?.[0]?.extensions.code ?? body.code,
  };
}
const refused = (message: RegExp, code: unknown = expect.stringMatching(/^[A-Z_]+$/)) => ({
  status: 400,
  message: expect.stringMatching(message),
  code,
});
const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(" ");

describe("the limits of a GraphQL request", () => {
  test("accept 1,000 tokens and refuse 1,001", async () => {
    const query = (tokens: number) =>
      `mutation { createAssistant(input: { name: "x" variables: { l: [${times(tokens - 24, () => "0")}] } }) { id } }`;
    await running.api.gql(query(1_000));
    expect(await refusal(query(1_001))).toEqual(refused(/token/i));
  });

  test("accept 12 levels and refuse 13", async () => {
    const deep = (levels: number) =>
      `{ assistants(take: 1) { data ${"{ chats(first: 1) { nodes { assistant ".repeat((levels - 2) / 3)} { id } ${"} } }".repeat((levels - 2) / 3)} } }`;
    await running.api.gql(deep(11));
    expect(await refusal(deep(14))).toEqual(refused(/levels deep/));
  });

  test.each([
    ["query", "Query"],
    ["mutation", "Mutation"],
    ["subscription", "Subscription"],
  ])("refuse a %s with fragments that repeat one another many times", async (kind, type) => {
    const fragments = times(26, (n) => `fragment f${n} on ${type} { ...f${n + 1} ...f${n + 1} }`);
    const query = `${kind} { ...f0 } ${fragments} fragment f26 on ${type} { __typename }`;
    expect(await refusal(query)).toMatchObject({ status: 400, code: "GRAPHQL_VALIDATION_FAILED" });
  });

  test("accept 15 aliases and refuse 16", async () => {
    const aliases = (count: number) => `{ ${times(count, (n) => `a${n}: organization { id }`)} }`;
    await running.api.gql(aliases(15));
    expect(await refusal(aliases(16))).toEqual(refused(/alias/i));
  });

  test("accept the schema once or three types, and refuse more, or aliases in them", async () => {
    await running.api.gql(getIntrospectionQuery());
    const types = (count: number) => `{ ${times(count, (n) => `a${n}: __type(name: "Chat") { name }`)} }`;
    await running.api.gql(types(3));
    for (const query of [
      "{ __schema { queryType { name } } a: __schema { queryType { name } } }",
      "{ __schema { types { name } a: types { name } } }",
      types(4),
      '{ __schema { queryType { name } } __type(name: "Chat") { name } }',
      '{ __type(name: "Chat") { ...T } } fragment T on __Type { fields { a: type { name } } }',
    ])
      expect(await refusal(query)).toEqual(refused(/ask for the schema once/));
  });

  test("accept 50 directives and refuse 51", async () => {
    const directives = (count: number) => `{ ${times(count, () => "__typename @include(if: true)")} }`;
    await running.api.gql(directives(50));
    expect(await refusal(directives(51))).toEqual(refused(/directive/i));
  });

  test("accept a cost of up to 5,000; extensions.cost contains the cost", async () => {
    const query =
      "query ($take: Int, $first: Int) { assistants(take: $take) { data { chats(first: $first) { nodes { id } } } } }";
    const { body } = await running.api.graphql(query, { take: 10, first: 10 });
    const { requested, limit, left } = body.extensions.cost;
    expect(requested).toBeGreaterThan(100);
    expect({ limit, left }).toEqual({ limit: 5_000, left: 5_000 - requested });
    expect(await refusal(query, { take: 100, first: 100 })).toEqual(
      refused(/costs \d+, more than 5000/, "COST_LIMIT"),
    );
  });

  test("count the cost of every size of a document, and of the fields that its directives include", async () => {
    const query = `query ($id: ID!, $take: Int, $logs: Boolean = true) {
      assistants(take: $take) { data { id logs(take: 3) @include(if: $logs) { id } } } assistant(id: $id) { id } }`;
    const id = await newAssistant(running.api);
    const costOf = async (variables: object) => {
      const { body } = await running.api.graphql(query, { id, ...variables });
      return body.extensions.cost.requested as number;
    };
    const requests = [{ take: 2 }, { take: 20 }, { take: 20, logs: false }, { take: 2 }, { take: 20 }, {}];
    const costs: number[] = [];
    for (const variables of requests) costs.push(await costOf(variables));
    const [few, many, without] = costs;
    expect([many! > few!, many! > without!, without! > few!]).toEqual([true, true, true]);
    expect(costs.slice(3, 5)).toEqual([few, many]);
    for (const take of [2, null]) {
      const { status, body } = await running.api.graphql(query, { id: take === null ? null : id, take });
      expect([take, status, body.errors === undefined]).toEqual([
        take,
        take === null ? 400 : 200,
        take !== null,
      ]);
    }
  });

  test.each([
    ["{ keys { id } }", "{ keysConnection(first: 10) { nodes { id } } }"],
    [
      "{ projects { webhookDestinations { id } } }",
      "{ projectsConnection(last: 10) { nodes { webhookDestinations { id } } } }",
    ],
    ["{ chats { nodes { id } } }", "{ chats(first: 20) { nodes { id } } }"],
    ["{ chats(first: null) { nodes { id } } }", "{ chats(last: 20) { nodes { id } } }"],
    ["{ assistants(take: null) { data { id } } }", "{ assistants(take: 20) { data { id } } }"],
  ])("count the usual number of records of a list whose size is not given: %s", async (without, sized) => {
    const [one, other] = [await running.api.graphql(without), await running.api.graphql(sized)];
    const costs = [one, other].map(({ body }) => body.extensions.cost.requested as number);
    expect(Math.min(...costs)).toBeGreaterThanOrEqual(10);
    // A connection costs the object that holds its records, too.
    expect(Math.max(...costs) - Math.min(...costs)).toBeLessThanOrEqual(20);
  });

  test("accept at most 64 KiB of query text", async () => {
    const padded = (bytes: number) => `{ __typename }${" ".repeat(bytes - 14)}`;
    await running.api.gql(padded(65_536));
    expect(await refusal(padded(65_537))).toEqual(refused(/64 KiB/));
  });

  test("refuse a batch", async () => {
    const { status, body } = await running.api.request("POST", "/graphql", [{ query: "{ __typename }" }]);
    expect([status, body.errors[0].message]).toEqual([400, expect.stringMatching(/batch/i)]);
  });

  test("refuse requests that other sites can send without a preflight", async () => {
    const bare = running.api.as({});
    const query = encodeURIComponent("{ __typename }");
    const form = new FormData();
    form.set("operations", JSON.stringify({ query: "{ __typename }" }));
    form.set("map", "{}");
    const answers = [
      await bare.request("GET", `/graphql?query=${query}`, undefined, { Accept: "application/json" }),
      await bare.request("POST", "/graphql", JSON.stringify({ query: "{ __typename }" }), {
        "Content-Type": "text/plain",
      }),
      await bare.request("POST", "/graphql", form),
    ];
    const forgery = [400, expect.stringMatching(/Cross-Site Request Forgery/)];
    expect(answers.map(({ status, body }) => [status, body.errors[0].message])).toEqual([
      forgery,
      forgery,
      [401, expect.stringMatching(/Authentication required/)], // a form needs a key, which other sites do not have
    ]);
  });
});

describe("introspection", () => {
  const misspelled = "mutation ($input: CreateKeyInput!) { createKey(input: $input) { id } }";
  const hidden = [
    ["{ assistantz { id } }", {}],
    ["{ organization { idd } }", {}],
    ['mutation { createAssistant(input: { name: "x", nam: "x" }) { id } }', {}],
    [misspelled, { input: { typ: "SECRET" } }],
    [misspelled, { input: { type: "SECRETS" } }],
  ] as const;

  test("is enabled by default, and a misspelled name gets a suggestion", async () => {
    expect((await running.api.gql("{ __schema { queryType { name } } }")).__schema.queryType.name).toBe(
      "Query",
    );
    for (const [query, variables] of hidden)
      expect((await refusal(query, variables)).message).toMatch(/Did you mean/);
  });

  test("returns the schema as documented, with errors and limits described", async () => {
    const query = getIntrospectionQuery({
      schemaDescription: true,
      inputValueDeprecation: true,
      specifiedByUrl: true,
    });
    const shown = buildClientSchema((await running.api.gql(query)) as unknown as IntrospectionQuery);
    const documented = buildSchema(readFileSync("schema/schema.graphql", "utf8"));
    expect(printSchema(lexicographicSortSchema(shown))).toBe(
      printSchema(lexicographicSortSchema(documented)),
    );
    expect(shown.description).toContain("extensions.code");
  });

  test("can be disabled, and then no names are suggested", async () => {
    const app = await startApp(running.database, { GRAPHQL_INTROSPECTION: "off" });
    try {
      for (const query of ["{ __schema { queryType { name } } }", '{ __type(name: "Key") { name } }'])
        expect((await app.api.gqlError(query)).message).toBe(
          "Introspection is not allowed on this server (GRAPHQL_INTROSPECTION is off).",
        );
      for (const [query, variables] of hidden)
        expect((await app.api.gqlError(query, variables)).message).not.toMatch(/Did you mean/);
    } finally {
      await app.stop();
    }
  });
});

describe("errors", () => {
  test.each([
    ["{", "GRAPHQL_PARSE_FAILED"],
    ["{ nothing }", "GRAPHQL_VALIDATION_FAILED"],
    ['{ assistant(id: "x") { id } }', "ASSISTANT_NOT_FOUND"],
    ["{ assistants(take: 101) { meta { page } } }", "BAD_USER_INPUT"],
    ["query ($id: ID!) { assistant(id: $id) { id } }", "BAD_USER_INPUT"],
  ])("%s has the code %s", async (query, code) => {
    expect((await running.api.gqlError(query)).extensions.code).toBe(code);
  });

  test("in the service are INTERNAL and reveal nothing about the database", async () => {
    const { id } = await running.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const { database, api } = running;
    await database.query("alter table assistants rename column description to hidden_column");
    try {
      const { body, text } = await api.graphql("mutation ($id: ID!) { duplicateAssistant(id: $id) { id } }", {
        id,
      });
      const rest = await api.request("GET", `/rest/v1/assistants/${id}`);
      expect(body.errors[0].extensions.code).toBe("INTERNAL");
      expect(rest).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
      for (const shown of [text, rest.text])
        expect(shown).not.toMatch(/select |hidden|description|42703|organization_id|stack/i);
    } finally {
      await database.query("alter table assistants rename column hidden_column to description");
    }
  });
});

describe("the deadline", () => {
  afterEach(() => void jest.useRealTimers());

  test("cancels an operation after 10 s, with a message that says so", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    const schema = buildSchema("type Query { slow: String }");
    schema.getQueryType()!.getFields().slow!.resolve = () => new Promise(() => undefined);
    const answer = new Engine(schema).compile(parse("{ slow }"))({} as Context, {});
    jest.advanceTimersByTime(10_000);
    await expect(answer).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringMatching(/longer than 10 s/),
    });
  });

  test("is longer for operations that wait for others: 25 s for testFunction and testModel, 60 s for uploadFile, 65 s for postMessage, at any position", () => {
    const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
    const fields = schema.getMutationType()!.getFields();
    const patient = Object.values(fields).filter((field) => deadlineOf(field) !== 10_000);
    expect(Object.fromEntries(patient.map((field) => [field.name, deadlineOf(field)]))).toEqual({
      testFunction: 25_000,
      testModel: 25_000,
      uploadFile: 60_000,
      postMessage: 65_000,
    });
  });

  test("of a document is the longest of its fields", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    const schema = buildSchema("type Query { slow: String, slower: String }");
    const { slow, slower } = schema.getQueryType()!.getFields();
    slower!.extensions = { deadline: 25_000 };
    slow!.resolve = slower!.resolve = () => new Promise(() => undefined);
    const answer = new Engine(schema).compile(parse("{ slow slower }"))({} as Context, {});
    jest.advanceTimersByTime(24_999);
    jest.advanceTimersByTime(1);
    await expect(answer).rejects.toMatchObject({ message: expect.stringMatching(/longer than 25 s/) });
  });
});
