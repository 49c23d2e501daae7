import { beforeAll, describe, expect, test } from "@jest/globals";
import { getNamedType, getNullableType, isEnumType, isListType, type GraphQLInputType } from "graphql";
import type { CompiledRoute } from "../../rest-compat/compile";
import { readConfig } from "../../src/platform/settings/config";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { exampleOf, send } from "../support/examples";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

const { rows } = compileInterfaces(loadCatalog(), readConfig({}));

const RANGE = "from [\\d.]+ to \\d+";
/** A value of the wrong form for each type, and the message: the expected form, and what was sent. */
const IN_BODY: Readonly<Record<string, readonly [unknown, RegExp]>> = {
  String: [7, /^must be a string( such as "[^"]{1,40}")?; got a number$/],
  ID: [7, /^must be a string such as "[^"]{1,40}"; got a number$/],
  Int: [1.5, new RegExp(`^must be a whole number ${RANGE}; got 1\\.5$`)],
  Float: ["warm", new RegExp(`^must be a number ${RANGE}; got "warm"$`)],
  Boolean: ["yes", /^must be true or false; got "yes"$/],
  DateTime: ["tomorrow", /^must be an ISO 8601 date-time such as "2026-01-31T12:00:00Z"; got "tomorrow"$/],
  JSONObject: [[1], /^must be a JSON object( such as \{.+\})?; got a list$/],
};
const IN_QUERY: Readonly<Record<string, readonly [string, RegExp]>> = {
  Int: ["1.5", new RegExp(`^must be a whole number ${RANGE}; got "1\\.5"$`)],
  Boolean: ["yes", /^must be true or false; got "yes"$/],
  ID: ["zzz", /^must be an id from an earlier response; got "zzz"$/],
};
const OTHER = ["other", /^must be one of \w+(, \w+)*; got "other"$/] as const;

const wrongIn = (forms: typeof IN_BODY, type: GraphQLInputType) => {
  const bare = getNullableType(type);
  if (isListType(bare)) return [7, /^must be a list; got a number$/] as const;
  return isEnumType(bare) ? OTHER : forms[getNamedType(bare).name];
};

interface Place {
  readonly id: string;
  readonly name: string;
  readonly route: CompiledRoute;
  readonly value: unknown;
  readonly message: RegExp;
}
const places = (
  forms: typeof IN_BODY,
  namesOf: (route: CompiledRoute) => readonly (readonly [string, GraphQLInputType])[],
): Place[] =>
  rows.flatMap((route) =>
    namesOf(route).flatMap(([name, type]) => {
      const [value, message] = wrongIn(forms, type) ?? [];
      return message ? [{ id: route.id, name, route, value, message }] : [];
    }),
  );

describe("the error for a value of the wrong form names its place, the form, and what was sent:", () => {
  const fields = places(IN_BODY, ({ operation }) =>
    (operation?.bodyFields ?? []).map((name) => [name, operation!.input!.getFields()[name]!.type]),
  );
  test.each(fields)("the field $name of $id", async ({ route, name, value, message }) => {
    const call = exampleOf(route.id)(world);
    const answer = await send(running.api, route, { ...call, body: { ...call.body, [name]: value } });
    expect([answer.text, answer.status]).toEqual([answer.text, 400]);
    expect(answer.body.details).toEqual([{ path: name, message: expect.stringMatching(message) }]);
    expect(answer.body.message).toBe(`${name}: ${answer.body.details[0].message}`);
  });

  const parameters = places(IN_QUERY, ({ operation }) =>
    (operation?.variables ?? []).flatMap(({ name, from, type }) =>
      from === "query" ? [[name, type] as const] : [],
    ),
  );
  test.each(parameters)("the parameter $name of $id", async ({ route, name, value, message }) => {
    const call = exampleOf(route.id)(world);
    const query = { ...call.query, [name]: String(value) };
    const answer = await send(running.api, route, { ...call, query });
    expect([answer.text, answer.status]).toEqual([answer.text, 400]);
    expect(answer.body.details).toEqual([{ path: name, message: expect.stringMatching(message) }]);
  });

  test("every kind of value is among them", () => {
    const types = (all: readonly Place[]) => new Set(all.map(({ message }) => String(message)));
    expect(types(fields).size).toBeGreaterThanOrEqual(Object.keys(IN_BODY).length + 1);
    expect(types(parameters).size).toBe(Object.keys(IN_QUERY).length + 1);
  });
});

test.each(["2147483648", "99999999999999999999", "0", "-1"])("the page %s is refused", async (page) => {
  const { details } = await running.api.get(`/rest/v1/assistants?page=${page}`, 400);
  const text = page.length > 15 ? `"${page}"` : page;
  const message =
    Number(page) < 1
      ? `must be at least 1; got ${text}`
      : `must be a whole number from 1 to 2147483647; got ${text}`;
  expect(details).toEqual([{ path: "page", message }]);
});

describe("a date in GraphQL", () => {
  const expected = 'must be an ISO 8601 date-time such as "2026-01-31T12:00:00Z"';

  test.each(["tomorrow", "2026-13-01T00:00:00Z", "", 5, true, {}])(
    "as a variable, %j, shows the form",
    async (date) => {
      const query = "mutation ($input: CreateKeyInput!) { createKey(input: $input) { id } }";
      const { message, extensions } = await running.api.gqlError(query, { input: { expiresAt: date } });
      expect(message).toMatch(/^Variable "\$input" got an invalid value at "input\.expiresAt"; must be /);
      expect(extensions.details).toEqual([{ path: "input.expiresAt", message: expected }]);
    },
  );

  test("as a literal shows the form", async () => {
    const { message, extensions } = await running.api.gqlError(
      'mutation { createKey(input: { expiresAt: "tomorrow" }) { id } }',
    );
    expect(message).toBe(`Expected value of type "DateTime", found "tomorrow"; ${expected}`);
    expect(extensions.details).toMatchObject([{ path: "input.expiresAt" }]);
  });
});
