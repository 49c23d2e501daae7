import { beforeAll, describe, expect, test } from "@jest/globals";
import { Kind, parse } from "graphql";
import { routes } from "../../rest-compat/routes/index";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { allEvents, AsyncApi } from "../support/async-api";
import { expectError, expectOpenToAnyOrigin, withoutId, withoutRequest } from "../support/errors";
import { exampleOf, pathOf, send } from "../support/examples";
import { OpenApi } from "../support/openapi";
import { buildWorld, namedBy, portrait, unknownWorld, worlds, type World } from "../support/world";
import { DOCUMENTED, lineOf } from "./documented";

const running = useApp();
const shut = useApp({ OPEN_SETTINGS: "false" });

let openApi: OpenApi;
/** Shared by reads. Operations that change something get their own world. */
let world: World;
const another = worlds(() => running.api);
let stranger: { api: Api; world: World };
/** All data of the other organization, which no request here may change. */
let untouched: unknown;
let token: string;
let userToken: string;

beforeAll(async () => {
  openApi = new OpenApi(await running.api.get("/rest/openapi.json", 200));
  const { api } = await running.otherOrganization();
  stranger = { api, world: await buildWorld(api) };
  untouched = await portrait(stranger.api, stranger.world);
  world = await buildWorld(running.api);
  ({ token } = await running.api.post("/rest/v1/organization/token", {}, 200));
  ({ token: userToken } = await running.api.post("/rest/v1/organization/token", { userId: "ada" }, 200));
});

const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });
const anonymous = () => running.api.as({});
const operationName = (document: string) => {
  const [definition] = parse(document).definitions;
  return definition?.kind === Kind.OPERATION_DEFINITION ? definition.name?.value : undefined;
};

const served = routes.filter(({ document }) => document !== undefined);
const streams = routes.filter(({ stream, body }) => stream !== undefined && body !== "form");
const title = "$method $path";
const refusedToUsers = (route: (typeof routes)[number]) =>
  DOCUMENTED.some((one) => one.refusesUsers && lineOf(one) === lineOf(route));
const JSON_BODY = { "Content-Type": "application/json" };

describe.each(served)(title, (route) => {
  const example = exampleOf(route.id);
  const changes = route.method !== "get";
  const own = async () => example(changes ? await another(example) : world);

  test("answers as documented, without data of other organizations", async () => {
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

  if (route.auth === "public")
    test("accepts a PUBLIC key and a token in the headers for web pages, but no SECRET key", async () => {
      const sent = async (headers: Record<string, string>) =>
        send(running.api.as(headers), route, await own());
      for (const [name, value] of [
        ["X-Public-Key", running.publicKey],
        ["X-Public-Token", token],
        ["X-Public-Token", userToken],
        ["X-API-Key", running.publicKey],
      ] as const)
        expect((await sent({ [name]: value })).status).toBe(route.success);
      expectError(await sent({ "X-Public-Key": running.secretKey }), 401, "UNAUTHENTICATED");
      expectError(await sent({ "X-Public-Key": "unknown" }), 401, "UNAUTHENTICATED");
      expectError(await sent({ "X-Public-Token": "unknown" }), 401, "UNAUTHENTICATED");
    });
  else
    test("answers 403 to a PUBLIC key", async () => {
      const call = example(unknownWorld());
      const answer = await send(running.api.as({ "X-API-Key": running.publicKey }), route, call);
      expectError(answer, 403, "FORBIDDEN");
      expect(openApi.answerProblems(route.id, 403, answer.body)).toEqual([]);
      expectOpenToAnyOrigin(answer);
    });

  if (route.auth !== "public")
    test("answers 403 to a PUBLIC key before reading the request", async () => {
      const publicKey = running.api.as({ "X-API-Key": running.publicKey });
      const path = pathOf(route, { query: { page: "0", take: "many", order: "up" } });
      const body = route.method === "get" ? undefined : "{ no JSON";
      const answer = publicKey.request(route.method.toUpperCase(), path, body, JSON_BODY);
      expectError(await answer, 403, "FORBIDDEN");
    });

  test("refuses a visitor's session", async () => {
    const session = bearer(world.visitorToken!);
    const [status, code] = route.auth === "key" ? [401, "UNAUTHENTICATED"] : [403, "FORBIDDEN"];
    expectError(await send(session, route, example(unknownWorld())), status as number, code as string);
  });

  if (route.auth !== "key")
    test("also accepts a bearer token", async () => {
      const answer = await send(bearer(token), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
      expect(openApi.answerProblems(route.id, answer.status, answer.body)).toEqual([]);
    });

  if (route.auth !== "key" && refusedToUsers(route))
    test("answers 403 to a token issued for a user", async () => {
      expectError(await send(bearer(userToken), route, example(unknownWorld())), 403, "FORBIDDEN");
    });

  if (route.auth !== "key" && !refusedToUsers(route))
    test("accepts a token issued for a user", async () => {
      const answer = await send(bearer(userToken), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
    });

  if (route.auth === "settings")
    test("works without a credential if the settings are open", async () => {
      const answer = await send(anonymous(), route, await own());
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: route.success,
        text: answer.text,
      });
    });

  for (const record of namedBy(example))
    test(`answers for another organization's ${record} exactly as for an unknown one`, async () => {
      const [theirId, noId] = [stranger.world[record], unknownWorld()[record]];
      const foreign = await send(running.api, route, example({ ...world, [record]: theirId }));
      const unknown = await send(running.api, route, example({ ...world, [record]: noId }));
      expect(withoutId(withoutRequest(foreign), theirId)).toEqual(withoutId(withoutRequest(unknown), noId));
      if (record === "assistantId") expectError(foreign, 400, "ASSISTANT_NOT_FOUND");
      else if (record === "workflowId") expectError(foreign, 400, "WORKFLOW_NOT_FOUND");
      else expectError(foreign, 404);
      expect(openApi.answerProblems(route.id, foreign.status, foreign.body)).toEqual([]);
      if (changes) expect(await portrait(stranger.api, stranger.world)).toEqual(untouched);
    });
});

describe.each(routes.filter(({ auth }) => auth !== "none"))(title, (route) => {
  const call = exampleOf(route.id)(unknownWorld());

  test("answers 401 without a credential", async () => {
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
  ])("answers 401 to %s", async (_, headers) => {
    expectError(await send(running.api.as(headers), route, call), 401, "UNAUTHENTICATED");
  });

  if (route.auth === "key")
    test("answers 401 to a bearer token", async () => {
      expectError(await send(bearer(token), route, call), 401, "UNAUTHENTICATED");
    });
});

describe.each(streams)(title, (route) => {
  const call = exampleOf(route.id)(unknownWorld());

  test("answers anyone and ignores credentials", async () => {
    const unknown = running.api.as({ "X-API-Key": "unknown" });
    for (const api of [anonymous(), unknown, running.api]) {
      const answer = await send(api, route, call);
      expect(answer.status).toBe(route.success);
      expect(openApi.answerProblems(route.id, answer.status, answer.body)).toEqual([]);
      expectOpenToAnyOrigin(answer);
    }
  });

  test("answers 413, 415 or 400 to a body that is not JSON within its limit", async () => {
    const path = pathOf(route, call);
    const json = { "Content-Type": "application/json" };
    const limit = Buffer.alloc(route.bodyLimit! - 2, " ");
    expect(
      (await running.api.request("POST", path, Buffer.concat([limit, Buffer.from("{}")]), json)).status,
    ).toBe(201);
    const more = Buffer.concat([limit, Buffer.from(" {}")]);
    for (const [status, code, body, type] of [
      [413, "PAYLOAD_TOO_LARGE", more, "application/json"],
      [415, "UNSUPPORTED_MEDIA_TYPE", "{}", "text/plain"],
      [400, "BAD_USER_INPUT", "{", "application/json"],
    ] as const) {
      const answer = await running.api.request("POST", path, body, { "Content-Type": type });
      expectError(answer, status, code);
      expect(openApi.answerProblems(route.id, status, answer.body)).toEqual([]);
    }
  });
});

test("all events of these requests match the AsyncAPI document", async () => {
  const asyncApi = await AsyncApi.of(running.api);
  const events = await allEvents(running.api);
  expect(events.length).toBeGreaterThan(10);
  const problems = events.flatMap(({ name, payload }) => asyncApi.problems(name, { payload }));
  expect(problems).toEqual([]);
});

test("every route with path parameters has an example", () => {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(exampleOf(route.id)(unknownWorld()).params ?? {}).sort()).toEqual(names.sort());
    expect(pathOf(route, exampleOf(route.id)(unknownWorld()))).not.toMatch(/[:<>]|some-id/);
  }
});
