import { describe, expect, test } from "@jest/globals";
import etag from "etag";
import type { CompiledRoute } from "../../rest-compat/compile";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { exampleOf, send, type Call } from "../support/examples";
import { newAssistant } from "../support/factories";
import { unknownWorld, worlds } from "../support/world";

const running = useApp();
const another = worlds(() => running.api);
const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
const routeOf = (id: string) => rows.find((row) => row.id === id)!;

const readers = rows.filter(({ method, tagged }) => method === "get" && tagged);
const writers = rows.filter(({ reader }) => reader);
/** A link that is signed anew for each request. */
const SIGNED_ANEW = ["getOrganization"];
const stable = readers.filter(({ id }) => !SIGNED_ANEW.includes(id));

const callOf = async ({ id }: CompiledRoute): Promise<Call> => exampleOf(id)(await another(exampleOf(id)));
const ifMatch = (tag: string) => ({ "If-Match": tag });

/** The record of a request as its path shows it, and its ETag. */
async function seen(api: Api, route: CompiledRoute, { params }: Call) {
  const { path } = route;
  const shows = rows.find((row) => row.method === "get" && row.path === path);
  if (shows) {
    const { headers, text } = await send(api, shows, { params: params! });
    return { tag: headers.get("etag")!, text };
  }
  // A destination is shown by the list only. Its ETag is that of its item.
  const list = await api.get("/rest/v1/settings", 201);
  const item = list.find(({ id }: { id: string }) => id === params!.id);
  return { tag: etag(JSON.stringify(item)), text: JSON.stringify(item) };
}

test("the paths that show one record have an ETag, and those that change it compare it", () => {
  expect(readers.map(({ id }) => id)).toEqual([
    ...["getAssistant", "getVoiceConfiguration", "getSmsConfiguration", "getChatConfiguration"],
    ...["getThemeConfiguration", "getLog", "getOrganization", "getPublicKey", "getKey", "getChat"],
  ]);
  expect(writers.map(({ id }) => id)).toEqual([
    ...["updateAssistant", "deleteAssistant", "updateVoiceConfiguration", "updateSmsConfiguration"],
    ...["updateChatConfiguration", "updateThemeConfiguration", "updateWebhookSettings"],
    ...["deleteWebhookSettings", "updateKey", "deleteKey"],
  ]);
});

describe.each(stable)("$method $path", (route) => {
  test("is 304 without a body for the client that has it", async () => {
    const call = await callOf(route);
    const first = await send(running.api, route, call);
    const tag = first.headers.get("etag")!;
    expect(first.status).toBe(200);
    expect(tag).toMatch(/^"[\w+/-]+"$/);
    expect(first.headers.get("cache-control")).toMatch(/^(private, no-cache|no-store, no-transform)$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const again = await send(running.api, route, call, { "If-None-Match": known });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", tag]);
      expect(again.headers.get("content-type")).toBeNull();
    }
    const other = await send(running.api, route, call, { "If-None-Match": '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });
});

describe.each(writers)("$method $path", (route) => {
  const change = (call: Call, headers?: Record<string, string>) => send(running.api, route, call, headers);

  test("refuses an ETag that is not the record's, and changes nothing", async () => {
    const call = await callOf(route);
    const before = await seen(running.api, route, call);
    const refused = await change(call, ifMatch('"stale"'));
    expect(refused).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED", statusCode: 412 } });
    expect(await seen(running.api, route, call)).toEqual(before);
  });

  test("does the change with the record's ETag, once", async () => {
    const call = await callOf(route);
    const { tag } = await seen(running.api, route, call);
    const done = await change(call, ifMatch(`"other", W/${tag}`));
    expect(done.status).toBe(route.success);
    const again = await change(call, ifMatch(tag));
    if (route.method === "delete") expect([400, 404]).toContain(again.status);
    else {
      expect(again.status).toBe(412);
      const now = await seen(running.api, route, call);
      expect(done.headers.get("etag")).toBe(now.tag);
      expect(now.tag).not.toBe(tag);
    }
  });

  test("of six requests with the same ETag, one does the change", async () => {
    const call = await callOf(route);
    const { tag } = await seen(running.api, route, call);
    const answers = await Promise.all(Array.from({ length: 6 }, () => change(call, ifMatch(tag))));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === route.success)).toHaveLength(1);
    for (const { status, body } of answers)
      if (status !== route.success) expect(body.code).toMatch(/PRECONDITION_FAILED|_NOT_FOUND/);
  });

  test("takes * for any record, and refuses a malformed header by its name", async () => {
    const call = await callOf(route);
    for (const malformed of ["abc", '"open', '"a" "b"', ""]) {
      const refused = await change(call, ifMatch(malformed));
      expect(refused).toMatchObject({ status: 400, body: { details: [{ path: "If-Match" }] } });
    }
    expect((await change(call, ifMatch("*"))).status).toBe(route.success);
  });

  test("a missing record is missing with an ETag, too", async () => {
    const call = exampleOf(route.id)(unknownWorld());
    const [plain, conditional] = [await change(call), await change(call, ifMatch('"any"'))];
    expect([conditional.status, conditional.body.code]).toEqual([plain.status, plain.body.code]);
  });
});

describe("ETags of records that others change", () => {
  test("a change by another path or interface has another ETag", async () => {
    const id = await newAssistant(running.api);
    const path = `/rest/v1/assistants/${id}/chat`;
    const tag = async () => (await running.api.request("GET", path)).headers.get("etag");
    const before = await tag();
    await running.api.gql(
      `mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: TEXT, input: { forceRag: true }) { id } }`,
      { id },
    );
    expect(await tag()).not.toBe(before);
  });

  test("an update without If-Match in between lets the one with the old ETag fail", async () => {
    const id = await newAssistant(running.api);
    const path = `/rest/v1/assistants/${id}`;
    const { headers } = await running.api.request("GET", path);
    await running.api.patch(path, { name: "first" }, 200);
    const late = await running.api.request("PATCH", path, { name: "late" }, ifMatch(headers.get("etag")!));
    expect(late.status).toBe(412);
    expect((await running.api.get(path, 200)).name).toBe("first");
  });

  test("an invalid body is refused before the ETag is compared", async () => {
    const id = await newAssistant(running.api);
    const answer = await running.api.request(
      "PATCH",
      `/rest/v1/assistants/${id}`,
      { name: 7 },
      ifMatch('"x"'),
    );
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: "name" }] } });
  });
});

test("paths without an ETag refuse one, and paths that change nothing warn", async () => {
  const file = await callOf(routeOf("deleteFile"));
  const refused = await send(running.api, routeOf("deleteFile"), file, ifMatch('"x"'));
  expect(refused).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
  expect((await send(running.api, routeOf("deleteFile"), file, ifMatch("*"))).status).toBe(200);
  const list = await send(running.api, routeOf("listAssistants"), {}, ifMatch('"x"'));
  expect([list.status, list.headers.get("etag")]).toEqual([200, null]);
  expect(list.headers.get("warning")).toContain("The header If-Match was ignored");
});

describe("GraphQL-Cost", () => {
  const DOCUMENT = `query ($take: Int) { assistants(take: $take) { data { id } meta { page } } }`;

  test("is the same on both interfaces for the same operation", async () => {
    const rest = await running.api.request("GET", "/rest/v1/assistants?take=7");
    const graphql = await running.api.graphql(DOCUMENT, { take: 7 });
    expect(rest.headers.get("graphql-cost")).toBe(graphql.headers.get("graphql-cost"));
    expect(graphql.headers.get("graphql-cost")).toBe(String(graphql.body.extensions.cost.requested));
  });

  test("depends on the size of the list", async () => {
    const costOf = async (take: number) =>
      Number(
        (await running.api.request("GET", `/rest/v1/assistants?take=${take}`)).headers.get("graphql-cost"),
      );
    expect(await costOf(20)).toBeGreaterThan(await costOf(2));
  });

  test("tells the cost of an operation that is too expensive", async () => {
    const query = `{ assistants(take: 100) { data { logs(take: 100) { id } } } }`;
    const { status, headers, body } = await running.api.graphql(query);
    expect(status).toBe(400);
    expect(body.errors[0].extensions.code).toBe("COST_LIMIT");
    expect(Number(headers.get("graphql-cost"))).toBeGreaterThan(5000);
  });
});

describe("variables that the operation does not declare", () => {
  const QUERY = `query ($take: Int) { assistants(take: $take) { data { id } } }`;

  test("are ignored with a warning that names the one that was meant", async () => {
    const { status, body } = await running.api.graphql(QUERY, { take: 1, tkae: 2 });
    expect(status).toBe(200);
    expect(body.extensions.warnings).toEqual([
      "The variable tkae is unknown and was ignored. Did you mean take?",
    ]);
  });

  test("beyond five are counted, as on REST", async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`unused${index}`, "1"]));
    const { body } = await running.api.graphql(`{ organization { id } }`, many);
    expect(body.extensions.warnings).toHaveLength(6);
    expect(body.extensions.warnings[0]).toBe(
      "The variable unused0 is unknown and was ignored. The operation takes none.",
    );
    expect(body.extensions.warnings[5]).toBe("3 more variables are unknown and were ignored.");
    const { headers } = await running.api.request(
      "GET",
      `/rest/v1/assistants?${new URLSearchParams(many).toString()}`,
    );
    expect(headers.get("warning")).toContain("3 more query parameters are unknown and were ignored.");
  });

  test("none are reported if all are declared", async () => {
    const { body } = await running.api.graphql(QUERY, { take: 1 });
    expect(body.extensions).not.toHaveProperty("warnings");
  });
});
