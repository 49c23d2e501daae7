import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
} from "graphql";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { useApp } from "../support/app";
import { hostileJson, hostileValue } from "../support/hostile";
import { closeRaw, rawRequest } from "../support/raw";
import { startSession, VisitorClient } from "../support/visitor";

const RUNS = Number(process.env.FUZZ_RUNS ?? 8);
const schema = buildSchema(readFileSync(join(__dirname, "../../schema/schema.graphql"), "utf8"));
const operations = (["query", "mutation"] as const).flatMap((kind) =>
  Object.values((kind === "query" ? schema.getQueryType() : schema.getMutationType())!.getFields()).map(
    (field) => ({ kind, field, name: field.name }),
  ),
);
const running = useApp();
const ids: string[] = [];
/** Token of a visitor, for operations that only visitors may run. */
let session: string;

beforeAll(async () => {
  const { api } = running;
  const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  const start = "mutation ($id: ID!) { startChat(input: { assistantId: $id }) { id } }";
  const { startChat } = await api.gql(start, { id });
  const key = await api.post("/rest/v1/organization/keys", {}, 200);
  session = (await startSession(running.url, running.publicKey, { assistantId: id })).token;
  const theirs = await new VisitorClient(running.url, session).start();
  ids.push(id, startChat.id, key.id, theirs.id);
  return closeRaw;
});

/** Selects all fields of a type to three levels, including fields with arguments. */
function selection(type: GraphQLOutputType, depth = 0): string {
  const named = getNamedType(type);
  if (!isObjectType(named) && !isInterfaceType(named)) return "";
  const fields = Object.values(named.getFields())
    .filter((field) => depth < 2 || isLeafType(getNamedType(field.type)))
    .filter(({ args }) => args.every(({ type }) => !String(type).endsWith("!")))
    .map((field) => field.name + selection(field.type, depth + 1));
  return ` { ${fields.join(" ")} }`;
}

function document(kind: string, { name, args, type }: GraphQLField<unknown, unknown>): string {
  const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(", ");
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const around = (text: string) => (text ? `(${text})` : "");
  return `${kind} Fuzz${around(declared)} { ${name}${around(passed)}${selection(type)} }`;
}

/** Generates values of a type, some of them hostile. */
function valueOf(type: GraphQLInputType): fc.Arbitrary<unknown> {
  const bare = getNullableType(type);
  const right = (): fc.Arbitrary<unknown> => {
    if (isListType(bare)) return fc.array(valueOf(bare.ofType as GraphQLInputType), { maxLength: 3 });
    if (isEnumType(bare)) return fc.constantFrom(...bare.getValues().map(({ name }) => name));
    if (isInputObjectType(bare)) {
      const fields = Object.values(bare.getFields()).map(
        (field) => [field.name, valueOf(field.type)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
    }
    const plain: Readonly<Record<string, readonly unknown[]>> = {
      ID: ids,
      Int: [1, 20],
      Float: [0.5],
      Boolean: [true],
      JSONObject: [{ a: 1 }],
      DateTime: ["2026-01-31T12:00:00Z", "+275760-09-13T00:00:00Z", "0000-01-01T00:00:00Z"],
    };
    return fc.constantFrom(...(plain[String(bare)] ?? ["text"]));
  };
  return fc.oneof({ weight: 3, arbitrary: right() }, { weight: 1, arbitrary: hostileValue });
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

describe("an operation with random variables answers JSON and never INTERNAL", () => {
  test.each(operations)("$kind $name", async ({ kind, field }) => {
    const visits = AUTHORIZATION[field.name] === "visitor";
    const credential: Record<string, string> = visits
      ? { Authorization: `Bearer ${session}` }
      : { "X-API-Key": running.secretKey };
    const query = document(kind, field);
    const known = Object.fromEntries(field.args.map(({ name, type }) => [name, valueOf(type)]));
    const variables = fc.oneof(
      { weight: 9, arbitrary: fc.record(known, { requiredKeys: [] }) },
      { weight: 1, arbitrary: hostileValue },
    );
    await fc.assert(
      fc.asyncProperty(variables, async (values) => {
        const { status, headers, text } = await rawRequest(running.url, {
          method: "POST",
          path: "/graphql",
          headers: { ...credential, "Content-Type": "application/json" },
          body: `{"query":${JSON.stringify(query)},"variables":${hostileJson(values)}}`,
        });
        expect(status).toBeLessThan(500);
        expect(headers["content-type"]).toMatch(/^application\/(graphql-response\+)?json/);
        const { data, errors } = JSON.parse(text) as Answer;
        if (errors === undefined) return expect(data).toBeTruthy();
        for (const { message, extensions } of errors) {
          expect(message).toMatch(/\S/);
          expect(extensions.code).toMatch(/^[A-Z_]+$/);
          expect(extensions.code).not.toMatch(/^INTERNAL/);
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });

  test("a subscription over HTTP is refused in JSON", async () => {
    const { status, body } = await running.api.graphql('subscription { chatEvents(chatId: "x") { id } }');
    expect(status).toBe(400);
    expect(body.errors[0].extensions.code).not.toMatch(/^INTERNAL/);
  });
});
