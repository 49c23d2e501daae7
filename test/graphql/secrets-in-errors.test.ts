import { describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
  type GraphQLInputType,
} from "graphql";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { operationsOf } from "../support/operations";

const running = useApp();
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const MARK = "sk-very-secret";

/** A value with a secret in each text and object, and a field that does not exist in each object. */
function secretIn(type: GraphQLInputType, depth = 3): unknown {
  const plain = getNullableType(type);
  if (isListType(plain)) return [secretIn(plain.ofType, depth)];
  if (isInputObjectType(plain)) {
    const fields = depth > 0 ? Object.values(plain.getFields()) : [];
    return {
      unknownField: MARK,
      ...Object.fromEntries(fields.map((one) => [one.name, secretIn(one.type, depth - 1)])),
    };
  }
  if (isScalarType(plain) && plain.name === "String") return MARK;
  return isScalarType(plain) && plain.name === "JSONObject" ? { a: MARK } : null;
}

/** The same with each text in a wrong form. */
const inWrongForm = (value: unknown): unknown =>
  value === MARK
    ? [MARK]
    : Array.isArray(value)
      ? value.map(inWrongForm)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWrongForm(one)]))
        : value;

const mutations = operationsOf(schema).filter(({ kind }) => kind === "mutation");

describe("an error never repeats a secret that stands beside or in an invalid value:", () => {
  test.each(mutations.map(({ name, text }) => [name, text] as const))("%s", async (name, text) => {
    const { args } = schema.getMutationType()!.getFields()[name]!;
    const objects = args.filter(
      ({ type }) => isInputObjectType(getNamedType(type)) || String(type).includes("String"),
    );
    const values = Object.fromEntries(args.map((arg) => [arg.name, secretIn(arg.type)]));
    for (const sent of [values, inWrongForm(values)] as Record<string, unknown>[]) {
      const { body } = await running.api.graphql(text, sent);
      if (objects.length > 0) expect([name, body.errors?.length > 0]).toEqual([name, true]);
      expect(JSON.stringify(body.errors ?? [])).not.toContain(MARK);
    }
  });

  test.each([
    [
      "a list",
      `mutation { setModelCredential(input: { provider: OPENAI, apiKey: ["${MARK}"] }) { provider } }`,
    ],
    [
      "an object",
      `mutation { createWebhookDestination(input: { url: "https://a.example", secret: { a: "${MARK}" } }) { id } }`,
    ],
  ])("a literal that is %s", async (_name, text) => {
    const { body } = await running.api.graphql(text);
    expect(body.errors).toMatchObject([{ message: "String cannot represent a non string value" }]);
    expect(JSON.stringify(body)).not.toContain(MARK);
  });

  test.each([
    ["/rest/v1/settings", { url: "https://a.example", secret: [MARK] }],
    ["/rest/v1/settings", { url: "https://a.example", secret: MARK, unknown: MARK }],
    ["/rest/v1/assistants", { name: { a: MARK } }],
    ["/rest/v1/ai-chats/messages", { aiChatId: MARK, content: [MARK], metadata: MARK }],
  ])("over REST, %s %j", async (path, body) => {
    const answer = await running.api.request("POST", path, body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain(MARK);
  });
});
