import { describe, expect, test } from "@jest/globals";
import {
  getOperationAST,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  type GraphQLInputType,
} from "graphql";
import { compileRoute } from "../../rest-compat/compile";
import { Components } from "../../rest-compat/json-schema";
import type { Route } from "../../rest-compat/route";
import { coerce, Engine } from "../../rest-compat/run";
import { readVariables } from "../../rest-compat/variables";
import { checkOf } from "../../schema/core/guard";
import type { InputRule, itemRule } from "../../schema/core/rules";
import { DomainError, type Problem } from "../../src/platform/errors";
import type { JsonObject } from "../support/openapi";

type ItemRule = ReturnType<typeof itemRule>;
interface Row {
  readonly rule: ItemRule;
  readonly type: GraphQLInputType;
  readonly right: string | number;
  /** An invalid value, and its error message. */
  readonly wrong: string | number;
  readonly message: string;
}

/** Every kind of rule for a single value; a missing kind is a type error. */
const ROWS: Readonly<Record<keyof ItemRule, Row>> = {
  minLength: {
    rule: { minLength: 2, maxLength: 3 },
    type: GraphQLString,
    right: "ab",
    wrong: "a",
    message: "must be 2 to 3 characters long; got 1",
  },
  maxLength: {
    rule: { maxLength: 3 },
    type: GraphQLString,
    right: "🎉🎉🎉",
    wrong: "abcd",
    message: "must be at most 3 characters long; got 4",
  },
  format: {
    rule: { format: "uri" },
    type: GraphQLString,
    right: "https://example.com",
    wrong: "ftp://example.com",
    message: "must be a URL that begins with http:// or https://",
  },
  enum: {
    rule: { enum: ["ended", "ringing"] },
    type: GraphQLString,
    right: "ended",
    wrong: "finished",
    message: 'must be one of ended, ringing; got "finished"',
  },
  minimum: {
    rule: { minimum: 1 },
    type: GraphQLFloat,
    right: 1,
    wrong: 0,
    message: "must be at least 1; got 0",
  },
  maximum: {
    rule: { minimum: 1, maximum: 2 },
    type: GraphQLFloat,
    right: 2,
    wrong: 3,
    message: "must be from 1 to 2; got 3",
  },
};
const KINDS: readonly (readonly [string, Row])[] = [
  ...Object.entries(ROWS),
  [
    "no rule, as it may not hold U+0000",
    { ...ROWS.maxLength, rule: {}, wrong: "\0", message: "must not contain the character U+0000" },
  ],
  ["emptiness", { ...ROWS.minLength, wrong: " ", message: "must not be empty" }],
  [
    "cursor",
    {
      ...ROWS.format,
      rule: { format: "cursor" },
      right: "an imported id",
      wrong: "",
      message: 'must be a cursor of another page; got ""',
    },
  ],
  [
    "id",
    {
      ...ROWS.format,
      rule: { format: "id" },
      right: "a0-1",
      wrong: "x",
      message: 'must be an id from an earlier response; got "x"',
    },
  ],
];

/** Depth of the list in other lists, and the path of the invalid value in its second item. */
const DEPTHS = [
  [1, "1"],
  [2, "0.1"],
  [3, "0.0.1"],
] as const;
const CASES = KINDS.flatMap(([kind, row]) =>
  DEPTHS.map(([depth, at]) => [kind, depth, { ...row, at }] as const),
);

const wrapped = (depth: number, wrap: (inner: unknown) => unknown, inner: unknown) => {
  for (let level = 0; level < depth; level++) inner = wrap(inner);
  return inner;
};
const typeOf = (depth: number, type: GraphQLInputType) =>
  wrapped(depth, (inner) => new GraphQLList(inner as GraphQLInputType), type) as GraphQLInputType;
const listOf = (depth: number, values: readonly unknown[]) => wrapped(depth - 1, (inner) => [inner], values);

const ROUTE: Route = {
  id: "createAssistant",
  method: "post",
  path: "/rest/v1/lists",
  summary: "Take lists",
  auth: "key",
  success: 200,
  group: "lists",
  document: "mutation ($input: Lists!) { result: createAssistant(input: $input) }",
};
const SEGMENTS = { voice_engine: "vapi", telephony_provider: "twilio" };

/** Lists with a rule as an argument, in a body and in objects of a list, on each interface. */
function interfaces(type: GraphQLInputType, rule: InputRule) {
  const list = { type, extensions: { schema: rule } };
  const Inner = new GraphQLInputObjectType({ name: "Inner", fields: { list } });
  const Lists = new GraphQLInputObjectType({
    name: "Lists",
    fields: { list, inner: { type: new GraphQLList(Inner) } },
  });
  const field = { type: GraphQLBoolean, args: { list, input: { type: Lists } } };
  const root = (fields: Record<string, typeof field>, name: string) =>
    new GraphQLObjectType({ name, fields });
  const schema = new GraphQLSchema({
    query: root({ assistants: field }, "Query"),
    mutation: root({ createAssistant: field }, "Mutation"),
  });
  const problems = (refused: () => unknown): readonly Problem[] => {
    try {
      refused();
    } catch (error) {
      if (error instanceof DomainError) return error.details!;
      throw error;
    }
    return [];
  };
  const route = compileRoute(new Engine(schema), ROUTE, SEGMENTS);
  const document = parse(
    `mutation ($list: ${String(type)}, $input: Lists) { createAssistant(list: $list, input: $input) }`,
  );
  const operation = getOperationAST(document)!;
  return {
    schema,
    lists: Lists,
    graphql: (values: Record<string, unknown>) => {
      const { coerced } = coerce(schema, operation, values);
      return problems(() => checkOf(schema.getMutationType()!.getFields().createAssistant!)(coerced!));
    },
    rest: (body: unknown) =>
      problems(() =>
        readVariables(route, route.operation!, { params: {}, query: new URLSearchParams(), body }, false),
      ),
  };
}

describe("a rule on a list applies to each item:", () => {
  test.each(CASES)("%s, %i deep", (_kind, depth, { rule, type, right, wrong, message, at }) => {
    const { graphql, rest } = interfaces(typeOf(depth, type), { ...rule, nullable: false, maxItems: 3 });
    const good = listOf(depth, [right, right, right]);
    const bad = listOf(depth, [right, wrong]);
    expect(rest({ list: good, inner: [{ list: good }] })).toEqual([]);
    expect(graphql({ list: good, input: { list: good, inner: [{ list: good }] } })).toEqual([]);

    const inBody = [`list.${at}`, `inner.1.list.${at}`].map((path) => ({ path, message }));
    const body = { list: bad, inner: [{ list: good }, { list: bad }] };
    expect(rest(body)).toEqual(inBody);
    const inInput = inBody.map(({ path }) => ({ path: `input.${path}`, message }));
    expect(graphql({ list: bad, input: body })).toEqual([{ path: `list.${at}`, message }, ...inInput]);
  });

  test.each(CASES)("%s, %i deep, in OpenAPI", (_kind, depth, { rule, type }) => {
    const { schema, lists } = interfaces(typeOf(depth, type), {
      ...rule,
      nullable: false,
      minItems: 1,
      "x-extension": true,
    });
    const components = new Components(schema);
    components.input(lists, []);
    for (const name of ["Lists", "Inner"]) {
      const { list } = components.schemas[name]!.properties as Record<string, JsonObject>;
      expect(list).toMatchObject({ type: "array", minItems: 1, "x-extension": true });
      const words = Object.keys(rule);
      let inner = list!;
      for (let level = 0; level < depth; level++) {
        expect(Object.keys(inner).filter((word) => words.includes(word))).toEqual([]);
        inner = inner.items as JsonObject;
        expect(inner).not.toHaveProperty("minItems");
        expect(inner).not.toHaveProperty("x-extension");
      }
      expect(inner).toMatchObject(rule);
      expect(inner).not.toHaveProperty("items");
    }
  });

  test("items may be null if only the list must not be", () => {
    const { graphql, rest } = interfaces(typeOf(1, GraphQLString), { nullable: false, minLength: 1 });
    const list = ["a", null];
    expect([rest({ list }), graphql({ list, input: { list } })]).toEqual([[], []]);
    const problem = (path: string) => ({ path, message: "must not be null" });
    expect(rest({ list: null })).toEqual([problem("list")]);
    expect(graphql({ list: null, input: { list: null } })).toEqual([problem("list"), problem("input.list")]);
  });

  test("the number of items is that of the outermost list", () => {
    const { graphql, rest } = interfaces(typeOf(2, GraphQLString), { minItems: 1, maxItems: 2 });
    const list = [[], ["a", "b", "c"]];
    expect([rest({ list }), graphql({ list, input: { list } })]).toEqual([[], []]);
    expect(rest({ list: [] })).toEqual([{ path: "list", message: "must have at least 1 item; got 0" }]);
    expect(rest({ list: [[], [], []] })).toEqual([
      { path: "list", message: "must have at most 2 items; got 3" },
    ]);
  });
});
