import { describe, expect, test } from "@jest/globals";
import { startApp, useApp, type RunningApp } from "../support/app";
import type { Api } from "../support/api";

const running = useApp();
const KEYS = "/rest/v1/organization/keys";
const ASSISTANTS = "/rest/v1/assistants";

const newKey = (body: object = {}) => running.api.post(KEYS, body, 200);
const withKey = (value: string, { api }: RunningApp = running) => api.as({ "X-API-Key": value });
const withToken = (token: string) => running.api.as({ Authorization: `Bearer ${token}` });
const issue = (body: object = {}, api: Api = running.api) =>
  api.post("/rest/v1/organization/token", body, 200);
const secondsLeft = (expiresAt: string) => Math.round((Date.parse(expiresAt) - Date.now()) / 1000);

/** Repeats a request until it has the status; fails after a second. */
async function withinASecond(api: Api, status: number): Promise<void> {
  const end = Date.now() + 1_000;
  let { status: got } = await api.request("GET", ASSISTANTS);
  while (got !== status && Date.now() < end) ({ status: got } = await api.request("GET", ASSISTANTS));
  expect(got).toBe(status);
}

describe("keys", () => {
  test("a value shows its type and ends with a checksum", async () => {
    expect(await newKey()).toEqual({
      id: expect.any(String),
      value: expect.stringMatching(/^parley_sk_[0-9A-Za-z]{36}$/),
      type: "SECRET",
      status: "ACTIVE",
    });
    expect((await newKey({ type: "PUBLIC", status: "INACTIVE" })).value).toMatch(
      /^parley_pk_[0-9A-Za-z]{36}$/,
    );
  });

  test("no table contains a key, a webhook secret or a stored answer in plain text", async () => {
    const { api, database } = running;
    const once = { "Idempotency-Key": "create-a-key" };
    const { value } = await api.post(KEYS, {}, 200, once);
    const secret = "a webhook secret that nobody shall read";
    await api.post("/rest/v1/settings", { url: "https://example.com", secret }, 201, {
      "Idempotency-Key": "s",
    });
    const tables = await database.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["api_keys", "idempotency_keys", "webhook_destinations"]),
    );
    for (const { name } of tables) {
      const rows = await database.query<{ text: string }>(`select t::text as text from ${name} t`);
      for (const { text } of rows) for (const hidden of [value, secret]) expect(text).not.toContain(hidden);
    }
  });

  test("an inactive key is rejected at once, and accepted again once it is active", async () => {
    const { id, value } = await newKey();
    await withKey(value).get(ASSISTANTS, 200);
    await running.api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
    await withKey(value).get(ASSISTANTS, 401);
    await running.api.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200);
    await withKey(value).get(ASSISTANTS, 200);
    await running.api.delete(`${KEYS}/${id}`, 200);
    await withKey(value).get(ASSISTANTS, 401);
  });

  test("another server on the same database follows within a second", async () => {
    const second = await startApp(running.database);
    try {
      const { id, value } = await newKey();
      const there = withKey(value, second);
      await there.get(ASSISTANTS, 200);
      await running.api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
      await withinASecond(there, 401);
      await running.api.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200);
      await withinASecond(there, 200);
      await running.api.delete(`${KEYS}/${id}`, 200);
      await withinASecond(there, 401);
    } finally {
      await second.stop();
    }
  });

  test("a SECRET key sees full values; a token sees masked SECRET and full PUBLIC values", async () => {
    const { id, value } = await newKey();
    const token = withToken((await issue()).token);
    expect(await running.api.get(`${KEYS}/${id}`, 200)).toMatchObject({ value });
    const masked = `parley_sk_…${value.slice(-4)}`;
    expect(await token.get(`${KEYS}/${id}`, 200)).toMatchObject({ value: masked });
    expect(await token.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200)).toMatchObject({ value: masked });
    const listed = (await token.get(KEYS, 200)) as { id: string; type: string; value: string }[];
    expect(listed.find((key) => key.id === id)?.value).toBe(masked);
    expect(await token.get(`${KEYS}/public`, 200)).toMatchObject({ value: running.publicKey });
  });

  test("the response that creates a key shows it in full, also to a token", async () => {
    const { value } = await withToken((await issue()).token).post(KEYS, {}, 200);
    await withKey(value).get(ASSISTANTS, 200);
  });

  test("keys/public returns the newest active PUBLIC key", async () => {
    const older = await newKey({ type: "PUBLIC" });
    const newer = await newKey({ type: "PUBLIC" });
    expect(await running.api.get(`${KEYS}/public`, 200)).toEqual(newer);
    await running.api.patch(`${KEYS}/${newer.id}`, { status: "INACTIVE" }, 200);
    expect(await running.api.get(`${KEYS}/public`, 200)).toEqual(older);
    await running.api.delete(`${KEYS}/${older.id}`, 200);
    await running.api.delete(`${KEYS}/${newer.id}`, 200);
  });

  test.each([
    ["made inactive", "PATCH", { status: "INACTIVE" }],
    ["deleted", "DELETE", undefined],
  ])("the last SECRET key can be %s; a Warning says how to regain access", async (_, method, body) => {
    const { api } = await running.otherOrganization();
    const second = await api.post(KEYS, {}, 200);
    const keys = (await api.get(KEYS, 200)) as { id: string; type: string }[];
    const first = keys.find(({ id, type }) => type === "SECRET" && id !== second.id)!;
    const before = await api.request("DELETE", `${KEYS}/${second.id}`);
    expect(before.headers.get("warning")).toBeNull();
    const answer = await api.request(method, `${KEYS}/${first.id}`, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("warning")).toMatch(/^299 parley ".*npm run key:create.*"$/);
    await api.get(ASSISTANTS, 401);
  });

  test("lastUsedAt is the time when a key was used", async () => {
    const { id, value } = await newKey();
    const lastUsed = async () =>
      (await running.api.gql("query ($id: ID!) { key(id: $id) { lastUsedAt } }", { id })).key.lastUsedAt;
    expect(await lastUsed()).toBeNull();
    await withKey(value).get(ASSISTANTS, 200);
    for (let tries = 0; tries < 200 && (await lastUsed()) === null; tries++);
    expect(Math.abs(secondsLeft(await lastUsed()))).toBeLessThan(60);
  });

  test("an invalid token is rejected even with a valid key; another scheme is left to a proxy", async () => {
    const beside = (Authorization: string) =>
      running.api.as({ "X-API-Key": running.secretKey, Authorization }).request("GET", ASSISTANTS);
    expect((await beside("Bearer nonsense")).status).toBe(401);
    expect((await beside("Basic dXNlcjpwYXNz")).status).toBe(200);
    const { token } = await issue();
    expect((await beside(`Bearer ${token}`)).status).toBe(200);
  });

  test("a PUBLIC key cannot access data of the organization", async () => {
    const shown = withKey(running.publicKey);
    for (const path of [ASSISTANTS, KEYS, "/rest/v1/organization", "/rest/v1/settings", "/rest/v1/files"])
      await shown.get(path, 403);
    await shown.post("/rest/v1/organization/token", {}, 403);
  });
});
