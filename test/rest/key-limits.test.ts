import { afterAll, describe, expect, test } from "@jest/globals";
import { statement } from "../../src/platform/database/statement";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";
import { until } from "../support/until";
import { Subscriber } from "../support/subscriber";

const running = useApp();
const KEYS = "/rest/v1/organization/keys";
const TOKEN = "/rest/v1/organization/token";
const open: Subscriber[] = [];
afterAll(async () => {
  for (const one of open) await one.close();
});

const byKey = (value: string) => running.api.as({ "X-API-Key": value });
const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const make = (body: object, api: Api = running.api) => api.post(KEYS, body, 200);

describe("the fields of a key", () => {
  test("are in responses only if they are set, on both interfaces", async () => {
    const { api } = running;
    const plain = await make({});
    expect(Object.keys(plain).sort()).toEqual(["id", "status", "type", "value"]);
    for (const key of await api.get(KEYS, 200))
      expect(Object.keys(key).sort()).toEqual(["id", "status", "type", "value"]);
    const assistantIds = [await newAssistant(api)];
    const set = {
      name: "Reporting",
      expiresAt: inSeconds(3_600),
      assistantIds,
      permissions: ["read", "calls"],
    };
    const made = await make(set);
    expect(made).toMatchObject(set);
    expect(await api.get(`${KEYS}/${made.id}`, 200)).toMatchObject(set);
    expect(await api.patch(`${KEYS}/${made.id}`, { ...set, status: "INACTIVE" }, 200)).toMatchObject(set);
    const READ = "query ($id: ID!) { key(id: $id) { name expiresAt assistantIds permissions } }";
    expect(await api.gql(READ, { id: made.id })).toEqual({ key: set });
    expect((await api.gql(READ, { id: plain.id })).key).toEqual({
      name: null,
      expiresAt: null,
      assistantIds: null,
      permissions: null,
    });
  });

  test.each([
    ["name", { name: "" }, "BAD_USER_INPUT"],
    ["name", { name: "x".repeat(256) }, "BAD_USER_INPUT"],
    ["name", { name: null }, "BAD_USER_INPUT"],
    ["expiresAt", { expiresAt: "tomorrow" }, "BAD_USER_INPUT"],
    ["expiresAt", { expiresAt: "2020-01-01T00:00:00.000Z" }, "BAD_USER_INPUT"],
    ["assistantIds", { assistantIds: [] }, "BAD_USER_INPUT"],
    ["assistantIds", { assistantIds: Array.from({ length: 101 }, () => UNKNOWN_ID) }, "BAD_USER_INPUT"],
    ["assistantIds.0", { assistantIds: [UNKNOWN_ID] }, "ASSISTANT_NOT_FOUND"],
    ["permissions", { permissions: [] }, "BAD_USER_INPUT"],
    ["permissions.0", { permissions: ["everything"] }, "BAD_USER_INPUT"],
    ["permissions", { permissions: ["read", "import"] }, "BAD_USER_INPUT"],
  ])("are validated: %s in %j", async (path, body, code) => {
    const answer = await running.api.request("POST", KEYS, body);
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(answer.body.details[0].path).toBe(path);
  });

  test("cannot limit a key to a template, which all organizations share", async () => {
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const answer = await running.api.request("POST", KEYS, { assistantIds: [data[0].id] });
    expect(answer.body.code).toBe("ASSISTANT_NOT_FOUND");
  });
});

describe("a key that expires", () => {
  test("gets 401 after expiry, as do its tokens and sessions; subscriptions are closed", async () => {
    const assistantId = await newAssistant(running.api);
    const { value } = await make({ expiresAt: inSeconds(4) });
    const key = byKey(value);
    const { token, expiresAt } = await key.post(TOKEN, { expiresIn: "1h" }, 200);
    expect(new Date(expiresAt).getTime()).toBeLessThanOrEqual(Date.now() + 4_000);
    const SESSION = "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }";
    const session = (await key.gql(SESSION, { input: { assistantId } })).startWidgetSession.token as string;
    const subscriber = new Subscriber(running.url, { "X-API-Key": value });
    open.push(subscriber);
    void subscriber.run("subscription { organizationEvents { id } }", {}, () => undefined);
    const statuses = async () => [
      (await key.request("GET", "/rest/v1/organization")).status,
      (await bearer(token).request("GET", "/rest/v1/organization")).status,
      (await bearer(session).graphql("{ widgetChats { id } }")).status,
    ];
    await until(async () => (await statuses()).every((status) => status === 401));
    expect((await subscriber.closed).code).toBe(4403);
  });

  test("expires by the database's clock, whatever this server's clock says", async () => {
    const { id, value } = await make({ expiresAt: inSeconds(3_600) });
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await byKey(value).get("/rest/v1/organization", 200);
    const scope = running.app.database.scope(organizationId);
    const aSecondAgo = statement<{ past: Date }>(({ db }) =>
      db.raw("select now() - interval '1 second' as past where $1::text is not null"),
    );
    const past = await scope.read(aSecondAgo);
    await scope.table("api_keys").where({ id }).update({ expiresAt: past[0]!.past });
    await running.api.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200); // so that what is remembered of it is dropped
    expect((await byKey(value).request("GET", "/rest/v1/organization")).status).toBe(401);
  });
});

describe("a key with limits that can create keys", () => {
  const limited = async (body: object) =>
    byKey((await make({ permissions: ["read", "keys"], ...body })).value);

  test("creates no key wider than itself, and missing limits are its own", async () => {
    const [ada, bea] = [await newAssistant(running.api), await newAssistant(running.api)];
    const expiresAt = inSeconds(3_600);
    const key = await limited({ assistantIds: [ada], expiresAt });
    const inherited = { permissions: ["read", "keys"], assistantIds: [ada], expiresAt };
    expect(await make({}, key)).toMatchObject(inherited);
    expect(await make({ permissions: ["read"] }, key)).toMatchObject({ ...inherited, permissions: ["read"] });
    const issued = bearer((await key.post(TOKEN, {}, 200)).token);
    for (const maker of [key, issued])
      for (const [body, status, code] of [
        [{ permissions: ["read", "write"] }, 403, "FORBIDDEN"],
        [{ assistantIds: [ada, bea] }, 400, "ASSISTANT_NOT_FOUND"],
        [{ expiresAt: inSeconds(7_200) }, 403, "FORBIDDEN"],
      ] as const) {
        const answer = await maker.request("POST", KEYS, body);
        expect([body, answer.status, answer.body.code]).toEqual([body, status, code]);
      }
  });

  test("cannot find, change or delete keys wider than itself", async () => {
    const wide = await make({});
    const key = await limited({});
    const own = await make({ permissions: ["read"] }, key);
    const ids = ((await key.get(KEYS, 200)) as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain(own.id);
    expect(ids).not.toContain(wide.id);
    for (const [method, body] of [
      ["GET", undefined],
      ["PATCH", { status: "INACTIVE" }],
      ["DELETE", undefined],
    ] as const) {
      const answer = await key.request(method, `${KEYS}/${wide.id}`, body);
      expect([method, answer.status, answer.body.code]).toEqual([method, 404, "KEY_NOT_FOUND"]);
    }
    expect((await running.api.get(`${KEYS}/${wide.id}`, 200)).status).toBe("ACTIVE");
    await key.delete(`${KEYS}/${own.id}`, 200);
  });
});

test("a key that is limited to assistants gives them no other files of the organization", async () => {
  const { api } = running;
  const [ada, bea] = [await newAssistant(api), await newAssistant(api)];
  const [own, other] = [(await upload(api)).id, (await upload(api)).id];
  const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!) {
    updateAssistantDocument(assistantId: $id, input: $input) { version { document } } }`;
  const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) {
    saveAssistantDraft(assistantId: $id, input: $input) { document } }`;
  await api.gql(CHANGE, { id: ada, input: { fileIds: [own] } });
  await api.gql(CHANGE, { id: bea, input: { fileIds: [other] } });
  const key = byKey((await make({ assistantIds: [ada] })).value);
  for (const caller of [key, bearer((await key.post(TOKEN, {}, 200)).token)])
    for (const query of [CHANGE, SAVE]) {
      const codeOf = async (id: string) => {
        const { extensions } = await caller.gqlError(query, { id: ada, input: { fileIds: [own, id] } });
        return [extensions.code, extensions.details[0].path];
      };
      expect(await codeOf(other)).toEqual(["FILE_NOT_FOUND", "input.fileIds.1"]);
      expect(await codeOf(UNKNOWN_ID)).toEqual(["FILE_NOT_FOUND", "input.fileIds.1"]);
      for (const fileIds of [[], [own]]) await caller.gql(query, { id: ada, input: { fileIds } });
    }
});
