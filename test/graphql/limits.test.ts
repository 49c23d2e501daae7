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
import { faces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { startApp, useApp } from "../support/app";

const running = useApp();

/** The answer's status, and the message and code of its first error. */
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
  test("1,000 tokens are read, 1,001 are not", async () => {
    const query = (tokens: number) =>
      `mutation { createAssistant(input: { name: "x" variables: { l: [${times(tokens - 24, () => "0")}] } }) { id } }`;
    await running.api.gql(query(1_000));
    expect(await refusal(query(1_001))).toEqual(refused(/token/i));
  });

  test("12 levels are deep enough, 13 are too deep", async () => {
    const deep = (levels: number) =>
      `{ assistants(take: 1) { data ${"{ chats(first: 1) { nodes { assistant ".repeat((levels - 2) / 3)} { id } ${"} } }".repeat((levels - 2) / 3)} } }`;
    await running.api.gql(deep(11));
    expect(await refusal(deep(14))).toEqual(refused(/depth/i));
  });

  test("15 aliases are taken, 16 are not", async () => {
    const aliases = (count: number) => `{ ${times(count, (n) => `a${n}: organization { id }`)} }`;
    await running.api.gql(aliases(15));
    expect(await refusal(aliases(16))).toEqual(refused(/alias/i));
  });

  test("50 directives are taken, 51 are not", async () => {
    const directives = (count: number) => `{ ${times(count, () => "__typename @include(if: true)")} }`;
    await running.api.gql(directives(50));
    expect(await refusal(directives(51))).toEqual(refused(/directive/i));
  });

  test("an operation may cost 5,000; what it costs stands in extensions.cost", async () => {
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

  test("a request holds one operation", async () => {
    const query = "query A { __typename } query B { __typename }";
    const { status, body } = await running.api.request("POST", "/graphql", { query, operationName: "A" });
    expect([status, body.errors[0].message]).toEqual([400, expect.stringMatching(/one operation/)]);
  });

  test("the query's text is at most 64 KiB", async () => {
    const padded = (bytes: number) => `{ __typename }${" ".repeat(bytes - 14)}`;
    await running.api.gql(padded(65_536));
    expect(await refusal(padded(65_537))).toEqual(refused(/64 KiB/));
  });

  test("a batch is refused", async () => {
    const { status, body } = await running.api.request("POST", "/graphql", [{ query: "{ __typename }" }]);
    expect([status, body.errors[0].message]).toEqual([400, expect.stringMatching(/batch/i)]);
  });

  test("what a page of another site can send without asking is refused", async () => {
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
    expect(answers.map(({ status, body }) => [status, body.errors[0].message])).toEqual(
      answers.map(() => [400, expect.stringMatching(/Cross-Site Request Forgery/)]),
    );
  });
});

describe("introspection", () => {
  const misspelt = "mutation ($input: CreateKeyInput!) { createKey(input: $input) { id } }";
  const hidden = [
    ["{ assistantz { id } }", {}],
    ["{ organization { idd } }", {}],
    ['mutation { createAssistant(input: { name: "x", nam: "x" }) { id } }', {}],
    [misspelt, { input: { typ: "SECRET" } }],
    [misspelt, { input: { type: "SECRETS" } }],
  ] as const;

  test("is on, and a misspelt name gets a suggestion", async () => {
    expect((await running.api.gql("{ __schema { queryType { name } } }")).__schema.queryType.name).toBe(
      "Query",
    );
    for (const [query, variables] of hidden)
      expect((await refusal(query, variables)).message).toMatch(/Did you mean/);
  });

  test("shows the schema as its document has it, and how errors and limits are told", async () => {
    const query = getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true });
    const shown = buildClientSchema((await running.api.gql(query)) as unknown as IntrospectionQuery);
    const documented = buildSchema(readFileSync("schema/schema.graphql", "utf8"));
    expect(printSchema(lexicographicSortSchema(shown))).toBe(
      printSchema(lexicographicSortSchema(documented)),
    );
    expect(shown.description).toContain("extensions.code");
  });

  test("off, the schema can't be asked for and no name is suggested", async () => {
    const app = await startApp(running.database, { GRAPHQL_INTROSPECTION: "off" });
    try {
      for (const query of ["{ __schema { queryType { name } } }", '{ __type(name: "Key") { name } }'])
        expect((await app.api.gqlError(query)).message).toMatch(/introspection/i);
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
  ])("%s carries the code %s", async (query, code) => {
    expect((await running.api.gqlError(query)).extensions.code).toBe(code);
  });

  test("what goes wrong on our side is INTERNAL, and shows nothing of the database", async () => {
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

  test("gives an operation up after 10 s, with a message that says so", async () => {
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

  test("is longer for what waits for others: 25 s for testFunction, 65 s for postMessage, wherever they stand", () => {
    const { schema } = faces(loadCatalog(), readConfig({}));
    const fields = schema.getMutationType()!.getFields();
    const patient = Object.values(fields).filter((field) => deadlineOf(field) !== 10_000);
    expect(Object.fromEntries(patient.map((field) => [field.name, deadlineOf(field)]))).toEqual({
      testFunction: 25_000,
      postMessage: 65_000,
    });
  });

  test("of a document is that of its most patient field", async () => {
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
