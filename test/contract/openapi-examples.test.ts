import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { badRequestOf } from "../../rest-compat/error-examples";
import type { CompiledRoute } from "../../rest-compat/compile";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Answer, Api } from "../support/api";
import { useApp } from "../support/app";
import { exampleOf, pathOf, send } from "../support/examples";
import { OpenApi, type JsonObject } from "../support/openapi";
import { closeRaw, rawRequest } from "../support/raw";
import { buildWorld, unknownWorld, worlds, type World } from "../support/world";

const running = useApp();
const shut = useApp({ OPEN_SETTINGS: "false" });
const limited = useApp({ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_ANONYMOUS: "1" });

const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
const served = rows.filter(({ document }) => document !== undefined);
const title = "$method $path";

let openApi: OpenApi;
let world: World;
const another = worlds(() => running.api);

beforeAll(async () => {
  openApi = new OpenApi(await running.api.get("/rest/openapi.json", 200));
  world = await buildWorld(running.api);
});
afterAll(closeRaw);

/** Without the id of the request, and without the id of a record that messages quote. */
const plain = (body: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify({ ...body, requestId: "" }).replaceAll(/\\"[\da-f-]{36}\\"/g, '\\"id\\"'),
  ) as JsonObject;

/** The example of an answer is the answer itself, apart from ids. */
function expectShown({ id }: CompiledRoute, { status, body }: Answer): void {
  const example = openApi.exampleOf(id, status) as JsonObject;
  expect(plain(example)).toEqual(plain(body as JsonObject));
}

const raw = (api: Api, route: CompiledRoute, body: unknown, headers: Record<string, string>) =>
  api.request(route.method.toUpperCase(), pathOf(route, exampleOf(route.id)(unknownWorld())), body, headers);
const documents = (route: CompiledRoute, status: number) =>
  openApi.operation(route.id).responses[status] !== undefined;

describe.each(served)(`the examples of ${title}`, (route) => {
  const example = exampleOf(route.id);
  const call = example(unknownWorld());

  test("have every field of a real answer", async () => {
    const own = route.method === "get" ? world : await another(example);
    const { status, body } = await send(running.api, route, example(own));
    expect(openApi.unshown(route.id, status, body)).toEqual([]);
  });

  test("can be sent as they are, apart from ids of records", async () => {
    const { example: body } = openApi.operation(route.id).requestBody?.content["application/json"] ?? {};
    if (body === undefined) return;
    const own = await another(example);
    const ids: Record<string, string> = { ...own, aiChatId: own.chatId };
    const sent = Object.entries(body as JsonObject).map(([name, value]) => [name, ids[name] ?? value]);
    const { status, text } = await send(running.api, route, {
      ...example(own),
      query: {},
      body: Object.fromEntries(sent) as JsonObject,
    });
    expect({ status, text }).toEqual({ status: route.success, text });
  });

  test("for 401 and 403 are real answers", async () => {
    expectShown(route, await send(shut.api.as({}), route, call));
    const refused =
      route.auth === "public" ? ["X-Public-Token", world.visitorToken!] : ["X-API-Key", running.publicKey];
    expectShown(route, await send(running.api.as(Object.fromEntries([refused])), route, call));
  });

  test("for 400 is a real answer", async () => {
    const media = openApi.operation(route.id).requestBody?.content["application/json"];
    const bad = badRequestOf(route, media?.example);
    const own = { ...example(world), ...(bad?.query && { query: undefined }) };
    const path = pathOf(route, own) + (bad?.query ? `?${bad.query}` : "");
    const unknown = openApi.exampleOf(route.id, 400) as JsonObject;
    if (bad) {
      const body = route.body === "multipart" ? new FormData() : bad.body;
      expectShown(route, await running.api.request(route.method.toUpperCase(), path, body));
    } else if (unknown.code !== "BAD_USER_INPUT")
      expectShown(route, await send(running.api, route, example(unknownWorld())));
    else {
      const { params = {} } = call;
      const named = pathOf(route, { params: { ...params, [Object.keys(params)[0] ?? ""]: "PLACE" } });
      const wrong = named.includes("PLACE") ? named.replace("PLACE", "%FF") : `${named}?x=%FF`;
      expectShown(route, await running.api.request(route.method.toUpperCase(), wrong));
    }
  });

  test("for a missing record is a real answer", async () => {
    if (!documents(route, 404)) return;
    const { api } = await running.otherOrganization();
    const [key] = await api.get("/rest/v1/organization/keys", 200);
    for (const { id, type } of await api.get("/rest/v1/organization/keys", 200))
      if (type === "PUBLIC") await api.delete(`/rest/v1/organization/keys/${id}`, 200);
    expect(key).toBeDefined();
    const own = { ...unknownWorld(), assistantId: (await buildWorld(api, [])).assistantId };
    expectShown(route, await send(api, route, example(own)));
  });

  test("for 413 and 415 are real answers", async () => {
    if (!documents(route, 415)) return;
    const isUpload = route.body === "multipart";
    const wrong = { "Content-Type": isUpload ? "application/json" : "text/plain" };
    expectShown(route, await raw(running.api, route, "{}", wrong));
    const large = Buffer.alloc((isUpload ? 28 : 8) * 1024 * 1024 + 1, " ");
    const type = isUpload ? "multipart/form-data; boundary=x" : "application/json";
    expectShown(route, await raw(running.api, route, large, { "Content-Type": type }));
  });

  test("for a reused Idempotency-Key is a real answer", async () => {
    if (!documents(route, 422)) return;
    const headers = { "Idempotency-Key": `example of ${route.id}` };
    await running.api.post("/rest/v1/organization/keys", {}, 200, headers);
    const other = { ...call, query: { other: "request" } };
    expectShown(route, await send(running.api, route, other, headers));
  });
});

describe.each(rows.filter(({ stream }) => stream !== undefined))(`the examples of ${title}`, (route) => {
  const type = route.body === "form" ? "application/x-www-form-urlencoded" : "application/json";

  test("for 400, 413 and 415 are real answers", async () => {
    expectShown(
      route,
      await raw(running.api, route, "no gzip", { "Content-Type": type, "Content-Encoding": "gzip" }),
    );
    expectShown(route, await raw(running.api, route, "{}", { "Content-Type": "text/plain" }));
    const large = Buffer.alloc(route.bodyLimit! + 1, " ");
    expectShown(route, await raw(running.api, route, large, { "Content-Type": type }));
  });

  test("for 403 is a real answer", async () => {
    if (!documents(route, 403)) return;
    const form = String(new URLSearchParams(route.takes as Record<string, string>));
    expectShown(route, await raw(running.api, route, form, { "Content-Type": type }));
  });
});

test("the example for 429 is a real answer with the default limit", async () => {
  const headers = { "X-Forwarded-For": "203.0.113.7" };
  const ask = () => rawRequest(limited.url, { path: "/rest/v1/organization", headers });
  const answers = await Promise.all([ask(), ask(), ask()]);
  const refused = answers.find(({ status }) => status === 429)!;
  const { message } = JSON.parse(refused.text) as { message: string };
  const example = openApi.exampleOf("getOrganization", 429) as { message: string };
  expect(message).toBe(example.message.replace("600 requests", "1 requests"));
});
