import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  GraphQLBoolean,
  GraphQLInt,
  Kind,
  isNonNullType,
  isRequiredInputField,
  parse,
  type DocumentNode,
} from "graphql";
import Upload from "graphql-upload/Upload.mjs";
import type { CompiledRoute, Operation } from "../../rest-compat/compile";
import { withExtensions } from "../../rest-compat/extensions";
import { coerce, type Result, type Run } from "../../rest-compat/run";
import { readVariables } from "../../rest-compat/variables";
import { makeContext } from "../../schema/core/context";
import { compileInterfaces } from "../../src/start/app";
import type { Caller } from "../../src/account/auth/caller";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { exampleOf, NEEDED, uploadOf, type Call } from "../support/examples";
import { buildWorld, namedBy, unknownWorld, type World } from "../support/world";

type Variables = Record<string, unknown>;

const running = useApp();
const { schema, engine, rows } = compileInterfaces(loadCatalog(), readConfig({}));

let world: World;
let caller: Caller;
beforeAll(async () => {
  world = await buildWorld(running.api);
  const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
  caller = { organizationId, kind: "SECRET", keyId: world.keyId };
});

/** Runs in a transaction that is rolled back, so that both engines find the same records. */
async function undone(run: Run, variables: Variables): Promise<Result> {
  const { database } = running.app;
  let result: Result | undefined;
  const work = database.scope(caller.organizationId).transaction(async (scope) => {
    result = await run(makeContext(database, caller, { requestId: "engines", scope }), variables);
    throw new Error("undo");
  });
  await expect(work).rejects.toThrow("undo");
  return result!;
}

/** Fields that differ in each run: only their types are compared. */
const MADE_ANEW: Readonly<Record<string, readonly string[]>> = {
  createAssistant: ["id"],
  duplicateAssistant: ["id"],
  getLog: ["durationSeconds"],
  getOrganization: ["analyticUrl"],
  regenerateWebhookSecret: ["result"],
  createWebhookSettings: ["id", "createdAt", "updatedAt"],
  updateWebhookSettings: ["updatedAt"],
  issueToken: ["token", "expiresAt"],
  createKey: ["id", "value"],
  startChat: ["id"],
  endChat: ["endedAt"],
  postMessage: ["id", "createdAt"],
  uploadFile: ["id", "createdAt"],
  downloadFile: ["url"],
  callWithAssistant: ["id"],
  callWithWorkflow: ["id"],
  initiatePhoneCall: ["id"],
  callFromPage: ["webCallUrl"],
  callFromPageV2: ["webCallUrl"],
};

/** The parts of a result that a client can see. */
function seen({ data, errors }: Result, anew: readonly string[] = []): unknown {
  const masked = (name: string, value: unknown) => (anew.includes(name) ? typeof value : value);
  const told = errors?.map(({ message, path, originalError }) => ({
    message,
    path,
    code: (originalError as { code?: string } | undefined)?.code,
  }));
  return JSON.parse(JSON.stringify({ data, errors: told }, masked));
}

const plain = (text: string) => engine.plain(parse(text));

/** The values of a call by variable, as a GraphQL client would send them. */
function variablesOf({ variables }: Operation, { params, query, body = {}, form }: Call): Variables {
  const fields: Variables = form ? { file: uploaded(form), metadata: form.metadata } : {};
  const values = variables.map(({ name, type, from }) => {
    if (from === "body") return [name, body];
    if (from === "form") return [name, fields[name]];
    const text = (from === "path" ? params : query)?.[name];
    if (text === undefined) return [name, text];
    const leaf = getNamedType(type);
    return [name, leaf === GraphQLInt ? Number(text) : leaf === GraphQLBoolean ? text === "true" : text];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Variables;
}

function uploaded(form: NonNullable<Call["form"]>): Upload {
  const upload = new Upload();
  upload.resolve(uploadOf(form) as never); // the declared type requires fs-capacitor's own class
  return upload;
}

/** The same call without optional parts. */
function smallest({ id, operation: { variables, input } }: Served, call: Call): Call {
  const needed = (name: string) => isNonNullType(variables.find((variable) => variable.name === name)?.type);
  const fields = Object.entries(call.body ?? {}).filter(
    ([name]) => isRequiredInputField(input!.getFields()[name]!) || NEEDED[id]?.includes(name),
  );
  return {
    ...call,
    ...(call.query && { query: only(call.query, needed) }),
    ...(call.body && { body: Object.fromEntries(fields) }),
  };
}
const only = (values: Readonly<Record<string, string>>, keep: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => keep(name)));

type Served = CompiledRoute & { readonly operation: Operation };
const served = rows.filter((row): row is Served => row.operation !== undefined);

async function expectSame({ id, operation, document }: Served, call: Call): Promise<Result> {
  const raw = variablesOf(operation, call);
  const { coerced, errors } = coerce(schema, operation.definition, raw);
  expect(errors).toBeUndefined();
  const compiled = await undone(operation.run, coerced!);
  expect(seen(compiled, MADE_ANEW[id])).toEqual(
    seen(await undone(engine.plain(withExtensions(parse(document!), schema)), raw), MADE_ANEW[id]),
  );
  return compiled;
}

const codesOf = (errors: Result["errors"]) =>
  errors?.map(({ originalError }) => (originalError as { code?: string } | undefined)?.code);

describe.each(served)("$id", (route) => {
  const example = exampleOf(route.id);

  test("both engines give the same answer if everything is supplied", async () => {
    const { data, errors } = await expectSame(route, example(world));
    expect(codesOf(errors)).toBeUndefined();
    expect(data).toBeDefined();
  });

  test("both engines give the same answer if everything optional is omitted", async () => {
    const { errors } = await expectSame(route, smallest(route, example(world)));
    expect(codesOf(errors)).toBeUndefined();
  });

  for (const record of namedBy(example))
    test(`both engines refuse an unknown ${record} in the same way`, async () => {
      const { errors } = await expectSame(route, example({ ...world, [record]: unknownWorld()[record] }));
      expect(errors).toHaveLength(1);
    });

  test("REST reads the variables that a GraphQL client would send", () => {
    for (const call of [example(world), smallest(route, example(world))]) {
      const raw = variablesOf(route.operation, call);
      const inputs = {
        params: call.params ?? {},
        query: new URLSearchParams(call.query),
        body: call.body,
        form: raw,
      };
      const { coerced } = coerce(schema, route.operation.definition, raw);
      expect(readVariables(route, route.operation, inputs, false)).toEqual(coerced);
    }
  });
});

/** Documents unlike those of any route, which /graphql passes to the same engine. */
const OTHERS: readonly [string, string, (world: World) => Variables][] = [
  [
    "a variable with a default that is left out",
    "query ($take: Int = 1) { assistants(take: $take) { data { id } meta { take } } }",
    () => ({}),
  ],
  [
    "a variable without a value for an argument with a default",
    "query ($take: Int, $order: SortOrder) { assistants(take: $take, order: $order) { data { id } meta { take } } }",
    () => ({}),
  ],
  [
    "null for an argument with a default",
    "query ($take: Int) { assistants(take: $take) { meta { take } } }",
    () => ({ take: null }),
  ],
  [
    "an input field that is left out and has a default",
    "mutation ($input: StartChatInput!) { startChat(input: $input) { channel status variables metadata label } }",
    ({ assistantId }) => ({ input: { assistantId } }),
  ],
  [
    "a variable inside an object literal",
    "mutation ($name: String!, $about: String) { createAssistant(input: { name: $name, description: $about }) { name description } }",
    () => ({ name: "Dora" }),
  ],
  [
    "@include and @skip",
    "query ($id: ID!, $yes: Boolean!, $no: Boolean!) { assistant(id: $id) { id @include(if: $yes) name @skip(if: $yes) description @include(if: $no) } }",
    ({ assistantId: id }) => ({ id, yes: true, no: false }),
  ],
  [
    "fragments, aliases, an interface and __typename",
    `query ($id: ID!) { one: assistant(id: $id) { __typename ...Parts chat { ...Channel } voice { ...Channel } } }
     fragment Parts on Assistant { title: name configurationWarnings { code path } }
     fragment Channel on ChannelConfiguration { __typename temperature functions ... on ChatConfiguration { chatMode } }`,
    ({ assistantId: id }) => ({ id }),
  ],
  [
    "lists in lists, dates and free-form objects",
    `query ($id: ID!, $filter: ChatFilter) { assistant(id: $id) { variables createdAt
       chats(first: 5, filter: $filter) { nodes { id startedAt endedAt metadata messages(last: 1) { sequence content metadata } } pageInfo { hasNextPage } } } }`,
    ({ assistantId: id }) => ({ id, filter: { startedAfter: "2020-01-01T00:00:00Z", status: "ended" } }),
  ],
  [
    "an error beside data",
    "query ($id: ID!, $log: ID!) { organization { id } assistant(id: $id) { id log(id: $log) { id } } }",
    ({ assistantId: id }) => ({ id, log: "unknown" }),
  ],
];

test.each(OTHERS)("both engines handle %s in the same way", async (_, text, variables) => {
  const document: DocumentNode = parse(text);
  const [definition] = document.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error("the operation comes first");
  const { coerced, errors } = coerce(schema, definition, variables(world));
  expect(errors).toBeUndefined();
  const compiled = await undone(engine.compile(document), coerced!);
  expect(seen(compiled)).toEqual(seen(await undone(plain(text), variables(world))));
});
