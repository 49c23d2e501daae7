import { beforeAll, describe, expect, test } from "@jest/globals";
import { Kind, parse } from "graphql";
import { routes } from "../../rest-compat/routes/index";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { expectError, expectOpenToAnyOrigin, withoutRequest } from "../support/errors";
import { exampleOf, pathOf, send } from "../support/examples";
import { OpenApi } from "../support/openapi";
import { buildWorld, namedBy, portrait, unknownWorld, type World } from "../support/world";
import { REFUSED_TO_USERS } from "./documented";

const running = useApp();
const shut = useApp({ OPEN_SETTINGS: "false" });

let openApi: OpenApi;
/** Nothing may change it: what runs and changes something gets a world of its own. */
let world: World;
let stranger: { api: Api; world: World };
let token: string;
let userToken: string;

beforeAll(async () => {
  openApi = new OpenApi(await running.api.get("/rest/openapi.json", 200));
  const { api } = await running.otherOrganization();
  stranger = { api, world: await buildWorld(api) };
  world = await buildWorld(running.api);
  ({ token } = await running.api.post("/rest/v1/organization/token", {}, 200));
  ({ token: userToken } = await running.api.post("/rest/v1/organization/token", { userId: "ada" }, 200));
}, 30_000);

const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });
const anonymous = () => running.api.as({});
const operationName = (document: string) => {
  const [definition] = parse(document).definitions;
  return definition?.kind === Kind.OPERATION_DEFINITION ? definition.name?.value : undefined;
};

const served = routes.filter(({ document }) => document !== undefined);
const later = routes.filter(({ document }) => document === undefined);
const title = "$method $path";

describe.each(served)(title, (route) => {
  const example = exampleOf(route.id);
  const changes = route.method !== "get";
  const own = async () => example(changes ? await buildWorld(running.api) : world);

  test("answers as it documents, with nothing of another organization", async () => {
    const answer = await send(running.api, route, await own());
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: route.success,
      text: answer.text,
    });
    expect(openApi.answerProblems(route.id, answer.status, answer.body)).toEqual([]);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("graphql-operation")).toBe(operationName(route.document!));
    expect(Object.values(stranger.world).filter((id) => answer.text.includes(id))).toEqual([]);
    expectOpenToAnyOrigin(answer);
  });

  test("is 403 for a PUBLIC key", async () => {
    const call = example(unknownWorld());
    const answer = await send(running.api.as({ "X-API-Key": running.publicKey }), route, call);
    expectError(answer, 403, "FORBIDDEN");
    expect(openApi.answerProblems(route.id, 403, answer.body)).toEqual([]);
    expectOpenToAnyOrigin(answer);
  });

  if (route.auth !== "key")
    test("takes a bearer token as well", async () => {
      const answer = await send(bearer(token), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
      expect(openApi.answerProblems(route.id, answer.status, answer.body)).toEqual([]);
    });

  if (route.auth !== "key" && REFUSED_TO_USERS.test(route.path))
    test("is 403 for a token that was issued for a user", async () => {
      expectError(await send(bearer(userToken), route, example(unknownWorld())), 403, "FORBIDDEN");
    });

  if (route.auth !== "key" && !REFUSED_TO_USERS.test(route.path))
    test("takes a token that was issued for a user", async () => {
      const answer = await send(bearer(userToken), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
    });

  if (route.auth === "settings")
    test("works without a credential where the settings are open", async () => {
      const answer = await send(anonymous(), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
    });

  for (const record of namedBy(example))
    test(`answers for another organization's ${record} exactly as for an unknown one`, async () => {
      const untouched = changes && (await portrait(stranger.api, stranger.world));
      const theirs = { ...world, [record]: stranger.world[record] };
      const foreign = await send(running.api, route, example(theirs));
      const unknown = await send(running.api, route, example({ ...world, [record]: unknownWorld()[record] }));
      expect(withoutRequest(foreign)).toEqual(withoutRequest(unknown));
      if (record === "assistantId") expectError(foreign, 400, "ASSISTANT_NOT_FOUND");
      else expectError(foreign, 404);
      expect(openApi.answerProblems(route.id, foreign.status, foreign.body)).toEqual([]);
      if (changes) expect(await portrait(stranger.api, stranger.world)).toEqual(untouched);
    });
});

describe.each(routes.filter(({ auth }) => auth !== "none"))(title, (route) => {
  const call = exampleOf(route.id)(unknownWorld());

  test("is 401 without a credential", async () => {
    const answer = await send(shut.api.as({}), route, call);
    expectError(answer, 401, "UNAUTHENTICATED");
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(openApi.answerProblems(route.id, 401, answer.body)).toEqual([]);
    if (route.document) expect(answer.headers.get("graphql-operation")).toBe(operationName(route.document));
    expectOpenToAnyOrigin(answer);
  });

  test.each([
    ["an unknown key", { "X-API-Key": "parley_sk_unknown" }],
    ["a key in the wrong header", { Authorization: "Bearer secret-key-of-the-default-organization" }],
    ["a credential of another kind", { Authorization: "Basic YTpi" }],
    ["a token that nobody signed", { Authorization: "Bearer eyJhbGciOiJub25lIn0.e30." }],
  ])("is 401 for %s", async (_, headers) => {
    expectError(await send(running.api.as(headers), route, call), 401, "UNAUTHENTICATED");
  });

  if (route.auth === "key")
    test("is 401 for a bearer token", async () => {
      expectError(await send(bearer(token), route, call), 401, "UNAUTHENTICATED");
    });
});

describe.each(later)(title, (route) => {
  const call = exampleOf(route.id)(unknownWorld());

  test("is known and answers 501", async () => {
    const answer = await send(running.api, route, call);
    expectError(answer, 501, "NOT_IMPLEMENTED");
    expect(openApi.answerProblems(route.id, 501, answer.body)).toEqual([]);
  });

  if (route.auth === "none")
    test("needs no credential, and none is looked at", async () => {
      expectError(await send(anonymous(), route, call), 501, "NOT_IMPLEMENTED");
      const unknown = running.api.as({ "X-API-Key": "unknown", Authorization: "Bearer unknown" });
      expectError(await send(unknown, route, call), 501, "NOT_IMPLEMENTED");
    });
});

test("an example stands in the path of every row that has parameters", () => {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(exampleOf(route.id)(unknownWorld()).params ?? {}).sort()).toEqual(names.sort());
    expect(pathOf(route, exampleOf(route.id)(unknownWorld()))).not.toMatch(/[:<>]|some-id/);
  }
});
