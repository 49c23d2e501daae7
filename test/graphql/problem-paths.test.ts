import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
} from "graphql";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { PERMISSION_OF } from "../../schema/core/access";
import type { Api } from "../support/api";
import { importerOf } from "../support/importers";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { buildWorld } from "../support/world";

const running = useApp();
let visitor: Api;
beforeAll(async () => {
  const { visitorToken } = await buildWorld(running.api, ["visitorToken"]);
  visitor = running.api.as({ Authorization: `Bearer ${visitorToken}` });
});

type Field = GraphQLField<unknown, unknown>;
type Step = string | number;
type Value = unknown;

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const isRequired = (type: GraphQLInputType, defaultValue: unknown) =>
  isNonNullType(type) && defaultValue === undefined;
const operations = [
  ...Object.values(schema.getMutationType()!.getFields()).map((field) => ["mutation", field] as const),
  ...Object.values(schema.getQueryType()!.getFields()).map((field) => ["query", field] as const),
].filter(([, { args }]) => args.length > 0 && !args.some(({ type }) => String(type) === "Upload!"));

const SCALARS: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  JSONObject: {},
  DateTime: "2026-01-31T12:00:00.000Z",
};

/** A value of a type, with required fields only. */
function valid(type: GraphQLInputType): Value {
  const bare = getNullableType(type);
  if (isListType(bare)) return [valid(bare.ofType)];
  if (isEnumType(bare)) return bare.getValues()[0]!.name;
  if (!isInputObjectType(bare)) return SCALARS[getNamedType(bare).name] ?? "x";
  const required = Object.values(bare.getFields()).filter((field) =>
    isRequired(field.type, field.defaultValue),
  );
  return Object.fromEntries(required.map((field) => [field.name, valid(field.type)]));
}

interface Place {
  readonly steps: readonly Step[];
  readonly type: GraphQLInputType;
}

/** Every value of a type, at every depth: fields of objects and the second item of lists. */
function places(type: GraphQLInputType, steps: readonly Step[]): Place[] {
  const bare = getNullableType(type);
  const inside = isListType(bare)
    ? places(bare.ofType, [...steps, 1])
    : isInputObjectType(bare)
      ? Object.values(bare.getFields()).flatMap((field) => places(field.type, [...steps, field.name]))
      : [];
  return [{ steps, type }, ...inside];
}

/** A valid value of a type with another value at a place. */
function withValue(type: GraphQLInputType, steps: readonly Step[], value: Value): Value {
  const [first, ...rest] = steps;
  if (first === undefined) return value;
  const bare = getNullableType(type);
  if (isListType(bare)) return [valid(bare.ofType), withValue(bare.ofType, rest, value)];
  if (!isInputObjectType(bare)) throw new Error("only lists and objects have places inside");
  const field = bare.getFields()[first];
  return { ...(valid(type) as object), [first]: field ? withValue(field.type, rest, value) : value };
}

interface Wrong {
  /** Path of the argument and the wrong value, as the client writes them. */
  readonly path: string;
  readonly argument: GraphQLArgument;
  readonly value: Value;
}

/** Values of the wrong type, unknown fields and values that break a rule, at every place of an argument. */
const wrongValues = (argument: GraphQLArgument): Wrong[] =>
  places(argument.type, []).flatMap(({ steps, type }) => {
    const bare = getNullableType(type);
    const wrong = (value: Value, ...more: Step[]) => ({
      path: [argument.name, ...steps, ...more].join("."),
      argument,
      value: withValue(argument.type, [...steps, ...more], value),
    });
    if (isInputObjectType(bare)) return [wrong("text"), wrong(1, "nosuch")];
    if (!isLeafType(bare)) return [];
    return [wrong([[1]]), ...(["String", "ID"].includes(bare.name) ? [wrong("a\0b")] : [])];
  });

/** A value as a literal of its type. */
function literal(value: Value, type: GraphQLInputType | undefined): string {
  const bare = type && getNullableType(type);
  if (Array.isArray(value))
    return `[${value.map((item) => literal(item, isListType(bare) ? bare.ofType : bare)).join(", ")}]`;
  if (isEnumType(bare) && typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = isInputObjectType(bare) ? bare.getFields() : {};
  const entries = Object.entries(value).map(([name, one]) => `${name}: ${literal(one, fields[name]?.type)}`);
  return `{ ${entries.join(", ")} }`;
}

/** The request with all required arguments, as variables or as literals. */
function request(kind: string, field: Field, wrong: Wrong, asVariables: boolean): [string, object] {
  const args = field.args.filter((arg) => arg === wrong.argument || isRequired(arg.type, arg.defaultValue));
  const valueOf = (arg: GraphQLArgument) => (arg === wrong.argument ? wrong.value : valid(arg.type));
  const selection = isLeafType(getNamedType(field.type)) ? "" : "{ __typename }";
  const written = args.map(
    (arg, at) => `${arg.name}: ${asVariables ? `$v${at}` : literal(valueOf(arg), arg.type)}`,
  );
  const declared = asVariables
    ? `(${args.map(({ type }, at) => `$v${at}: ${String(type)}`).join(", ")})`
    : "";
  const variables = asVariables ? Object.fromEntries(args.map((arg, at) => [`v${at}`, valueOf(arg)])) : {};
  return [`${kind} ${declared} { result: ${field.name}(${written.join(", ")}) ${selection} }`, variables];
}

const paths = (errors: readonly { extensions: { details?: readonly { path: string }[] } }[]) =>
  errors.flatMap(({ extensions: { details = [] } }) => details.map(({ path }) => path));

describe("the path of an invalid value begins with the argument", () => {
  test.each(operations.map(([kind, field]) => ({ kind, field, name: field.name })))(
    "in variables and literals of $name",
    async ({ kind, field, name }) => {
      const own = PERMISSION_OF[name] === "import" ? await importerOf(running.api) : running.api;
      const api = AUTHORIZATION[name] === "visitor" ? visitor : own;
      const failures: unknown[] = [];
      for (const wrong of field.args.flatMap(wrongValues))
        for (const asVariables of [true, false]) {
          const [query, variables] = request(kind, field, wrong, asVariables);
          const { body } = await api.graphql(query, variables as Record<string, unknown>);
          if (!paths(body.errors ?? []).includes(wrong.path))
            failures.push({ wrong: wrong.path, query, variables, body });
        }
      expect(failures).toEqual([]);
    },
  );

  test("covers every argument", () => expect(operations.length).toBeGreaterThan(90));

  test("for a missing field, an argument that is missing or unknown, and a variable inside of a literal", async () => {
    const create = (argument: string, declared = "") =>
      `mutation ${declared} { createAssistant(${argument}) { id } }`;
    for (const [query, variables, path] of [
      [create("input: {}"), {}, "input.name"],
      [create("input: $made", "($made: CreateAssistantInput!)"), { made: {} }, "input.name"],
      ["mutation { createAssistant { id } }", {}, "input"],
      [create("input: $made", "($made: CreateAssistantInput!)"), {}, "input"],
      [create('inptu: {}, input: { name: "x" }'), {}, "inptu"],
      [create("input: { name: $title }", "($title: String!)"), { title: 7 }, "input.name"],
      [create("input: { name: $title }", "($title: String!)"), { title: "" }, "input.name"],
      [create("input: { name: $title }", "($title: Int!)"), { title: 7 }, "input.name"],
      [
        "query ($many: Int) { ...Part } fragment Part on Query { assistants(take: $many) { data { id } } }",
        { many: "x" },
        "take",
      ],
    ] as const) {
      const { body } = await running.api.graphql(query, variables);
      expect([query, paths(body.errors)]).toEqual([query, [path]]);
    }
  });
});

describe("a rule of a service", () => {
  const url = "http://127.0.0.1/events";
  const named = async (text: string) =>
    text.includes("ASSISTANT") ? text.replace("ASSISTANT", await newAssistant(running.api)) : text;
  test.each([
    ["createWebhookDestination", { url: "ftp://x", secret: "s" }, "/rest/v1/settings", "url"],
    ["createWebhookDestination", { url, secret: "" }, "/rest/v1/settings", "secret"],
    ["issueToken", { expiresIn: "31d" }, "/rest/v1/organization/token", "expiresIn"],
    ["issueToken", { expiresIn: "soon" }, "/rest/v1/organization/token", "expiresIn"],
    ["createKey", { expiresAt: "2020-01-31T12:00:00.000Z" }, "/rest/v1/organization/keys", "expiresAt"],
    [
      "placeAssistantCall",
      { assistantId: "ASSISTANT", phoneNumber: "12" },
      "/rest/v1/call/phone",
      "phoneNumber",
    ],
  ])("of %s %j names the argument in GraphQL and the field in REST", async (name, input, path, field) => {
    const type = String(schema.getMutationType()!.getFields()[name]!.args[0]!.type);
    const query = `mutation ($given: ${type}) { ${name}(input: $given) { __typename } }`;
    const given = JSON.parse(await named(JSON.stringify(input))) as object;
    const { message, extensions } = await running.api.gqlError(query, { given });
    const { status, body } = await running.api.request("POST", path, given);
    expect([extensions.code, paths([{ extensions }])]).toEqual(["BAD_USER_INPUT", [`input.${field}`]]);
    expect([status, body.details.map((one: { path: string }) => one.path)]).toEqual([400, [field]]);
    expect(message).toBe(`input.${body.message}`);
  });

  test.each([
    ["query { assistants(page: 10000000, take: 100) { meta { page } } }", "page"],
    ['query { analytics(input: { timezone: "Nowhere" }) { from } }', "input.timezone"],
    ["mutation { forgetEndUser { id } }", "uniqueId"],
    ["mutation { deleteLogs(filter: {}) { id } }", "filter"],
    ["mutation { createDeployment(input: { type: API }) { id } }", "input.assistantId"],
    [
      'mutation { setModelMapping(input: { model: GPT_4_O, baseUrl: "https://x.example" }) { name } }',
      "input.name",
    ],
    [
      `mutation { updateAllowedOrigins(assistantId: "ASSISTANT", origins: ["https://a.example", "x"]) { mode } }`,
      "origins.1",
    ],
  ])("names an argument of %s", async (query, path) => {
    const { extensions } = await running.api.gqlError(await named(query));
    expect(paths([{ extensions }])).toContain(path);
  });
});

test("a wrong query parameter of REST is named as in the URL", async () => {
  const { body } = await running.api.request("GET", "/rest/v1/assistants?page=10000000&take=100");
  expect(body.details).toEqual([{ path: "page", message: expect.any(String) }]);
});
