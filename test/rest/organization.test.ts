import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";

const running = useApp();
const KEYS = "/rest/v1/organization/keys";
const TOKEN = "/rest/v1/organization/token";
const HOUR = 3600;

const bearer = (token: string) => running.api.as({ Authorization: `Bearer ${token}` });
const withKey = (value: string) => running.api.as({ "X-API-Key": value });
const secondsUntil = (moment: string) => (Date.parse(moment) - Date.now()) / 1000;

describe("the organization", () => {
  test("is that of the credential", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const organization = { id: organizationId, analyticUrl: expect.stringContaining("/analytics#token=") };
    expect(await api.get("/rest/v1/organization", 200)).toEqual(organization);
    const { token } = await api.post(TOKEN, {}, 200);
    expect(await bearer(token).get("/rest/v1/organization", 200)).toEqual(organization);
  });
});

describe("keys", () => {
  test("of a new organization are one SECRET and one PUBLIC key, both active", async () => {
    const { api, secretKey, publicKey } = await running.otherOrganization();
    const keys = await api.get(KEYS, 200);
    expect(keys).toEqual([
      { id: expect.any(String), value: publicKey, type: "PUBLIC", status: "ACTIVE" },
      { id: expect.any(String), value: secretKey, type: "SECRET", status: "ACTIVE" },
    ]);
  });

  test.each([
    [undefined, "SECRET", "ACTIVE"],
    [{}, "SECRET", "ACTIVE"],
    [{ type: "PUBLIC" }, "PUBLIC", "ACTIVE"],
    [{ status: "INACTIVE" }, "SECRET", "INACTIVE"],
    [{ type: "PUBLIC", status: "INACTIVE" }, "PUBLIC", "INACTIVE"],
  ])("created with %j are %s and %s", async (body, type, status) => {
    const { api } = await running.otherOrganization();
    const made = await api.post(KEYS, body, 200);
    expect(made).toEqual({ id: expect.any(String), value: expect.any(String), type, status });
    expect(await api.get(`${KEYS}/${made.id}`, 200)).toEqual(made);
    expect((await api.get(KEYS, 200))[0]).toEqual(made);
  });

  test.each([
    ["type", { type: "MASTER" }],
    ["type", { type: null }],
    ["status", { status: "active" }],
    ["value", { value: "mine" }],
  ])("with a wrong %s are rejected: %j", async (path, body) => {
    const { details } = await running.api.post(KEYS, body, 400);
    expect(details).toEqual([{ path, message: expect.any(String) }]);
  });

  test("are accepted while they are active, from the next request on", async () => {
    const { api } = await running.otherOrganization();
    const { id, value } = await api.post(KEYS, {}, 200);
    await withKey(value).get("/rest/v1/assistants", 200);
    expect(await api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200)).toEqual({
      id,
      value,
      type: "SECRET",
      status: "INACTIVE",
    });
    await withKey(value).get("/rest/v1/assistants", 401);
    await api.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200);
    await withKey(value).get("/rest/v1/assistants", 200);
    expect(await api.delete(`${KEYS}/${id}`, 200)).toEqual({ id });
    await withKey(value).get("/rest/v1/assistants", 401);
    expect((await api.get(`${KEYS}/${id}`, 404)).code).toBe("KEY_NOT_FOUND");
  });

  test("accept the body that was read from them and change only their status", async () => {
    const { api } = await running.otherOrganization();
    const made = await api.post(KEYS, {}, 200);
    const changed = { ...made, type: "PUBLIC", value: "another", status: "INACTIVE" };
    expect(await api.patch(`${KEYS}/${made.id}`, changed, 200)).toEqual({ ...made, status: "INACTIVE" });
    for (const body of [{}, { status: null }, { status: "OFF" }]) {
      const { details } = await api.patch(`${KEYS}/${made.id}`, body, 400);
      expect(details[0].path).toBe("status");
    }
  });

  test("that do not exist return 404 to read, change and delete", async () => {
    const { api } = running;
    await api.get(`${KEYS}/${UNKNOWN_ID}`, 404);
    await api.patch(`${KEYS}/${UNKNOWN_ID}`, { status: "ACTIVE" }, 404);
    await api.delete(`${KEYS}/${UNKNOWN_ID}`, 404);
  });

  test("of type SECRET are masked for tokens, except in the response that creates one", async () => {
    const { api, secretKey, publicKey } = await running.otherOrganization();
    const { token } = await api.post(TOKEN, {}, 200);
    const [shown, masked] = await bearer(token).get(KEYS, 200);
    expect(shown.value).toBe(publicKey);
    expect(masked.value).not.toBe(secretKey);
    expect(masked.value.length).toBeLessThan(secretKey.length / 2);
    expect((await bearer(token).get(`${KEYS}/${masked.id}`, 200)).value).toBe(masked.value);
    const made = await bearer(token).post(KEYS, {}, 200);
    await withKey(made.value).get("/rest/v1/assistants", 200);
    const changed = await bearer(token).patch(`${KEYS}/${made.id}`, { status: "INACTIVE" }, 200);
    expect(changed.value).not.toBe(made.value);
  });

  test.each(["PATCH", "DELETE"])(
    "can lose the last active SECRET one by %s, with a Warning",
    async (method) => {
      const { api, secretKey } = await running.otherOrganization();
      const { id } = (await api.get(KEYS, 200)).find(({ value }: { value: string }) => value === secretKey);
      const spare = await api.post(KEYS, {}, 200);
      expect((await api.request("DELETE", `${KEYS}/${spare.id}`)).headers.get("warning")).toBeNull();
      const body = method === "PATCH" ? { status: "INACTIVE" } : undefined;
      const { status, headers } = await api.request(method, `${KEYS}/${id}`, body);
      expect([status, headers.get("warning")]).toEqual([200, expect.stringMatching(/^299 .*key:create/)]);
      await api.get(KEYS, 401);
    },
  );

  describe.each([
    ["the key itself", false],
    ["a token of the key", true],
  ])("ended with %s", (_, byToken) => {
    test.each([
      ["PATCH", { status: "INACTIVE" }],
      ["DELETE", undefined],
    ])("cause a Warning on %s that the credential stops working", async (method, body) => {
      const { api } = await running.otherOrganization();
      const { id, value } = await api.post(KEYS, {}, 200);
      const own = withKey(value);
      const sender = byToken ? bearer((await own.post(TOKEN, {}, 200)).token) : own;
      const { status, headers } = await sender.request(method, `${KEYS}/${id}`, body);
      expect([status, headers.get("warning")]).toEqual([
        200,
        expect.stringMatching(/made with the key that it ended.+401 from now on.+npm run key:create/),
      ]);
      await sender.get(KEYS, 401);
    });
  });

  test.each([
    ["may not manage keys", { permissions: ["read"] }],
    ["has expired", { expiresAt: "2999-01-01T00:00:00Z" }],
  ])("count as none for the Warning if the only other one %s", async (_, body) => {
    const { api, secretKey, organizationId } = await running.otherOrganization();
    const { id } = (await api.get(KEYS, 200)).find(({ value }: { value: string }) => value === secretKey);
    await api.post(KEYS, body, 200);
    await running.database.query(
      "update api_keys set expires_at = now() where organization_id = $1 and expires_at is not null",
      [organizationId],
    );
    const { headers } = await api.request("PATCH", `${KEYS}/${id}`, { status: "INACTIVE" });
    expect(headers.get("warning")).toContain("no active SECRET key left");
  });

  test("are encrypted in the database", async () => {
    const { secretKey, organizationId } = await running.otherOrganization();
    const rows = await running.database.query("select * from api_keys where organization_id = $1", [
      organizationId,
    ]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain(secretKey);
  });
});

describe("keys/public", () => {
  test("returns the newest active PUBLIC key, and 404 without one", async () => {
    const { api, publicKey } = await running.otherOrganization();
    const first = await api.get(`${KEYS}/public`, 200);
    expect(first).toMatchObject({ value: publicKey, type: "PUBLIC", status: "ACTIVE" });
    await api.post(KEYS, { type: "SECRET" }, 200);
    const second = await api.post(KEYS, { type: "PUBLIC" }, 200);
    expect(await api.get(`${KEYS}/public`, 200)).toEqual(second);
    await api.post(KEYS, { type: "PUBLIC", status: "INACTIVE" }, 200);
    expect(await api.get(`${KEYS}/public`, 200)).toEqual(second);
    await api.patch(`${KEYS}/${second.id}`, { status: "INACTIVE" }, 200);
    expect(await api.get(`${KEYS}/public`, 200)).toEqual(first);
    await api.delete(`${KEYS}/${first.id}`, 200);
    expect((await api.get(`${KEYS}/public`, 404)).code).toBe("KEY_NOT_FOUND");
  });
});

describe("a token", () => {
  test.each([
    [undefined, HOUR],
    [{}, HOUR],
    [{ expiresIn: "3600" }, HOUR],
    [{ expiresIn: "60s" }, 60],
    [{ expiresIn: "15m" }, 900],
    [{ expiresIn: "7d" }, 7 * 24 * HOUR],
    [{ expiresIn: "30d", userId: "u1" }, 30 * 24 * HOUR],
  ])("with %j expires after %d seconds", async (body, seconds) => {
    const { token, expiresAt, ...rest } = await running.api.post(TOKEN, body, 200);
    expect(rest).toEqual({});
    expect(secondsUntil(expiresAt)).toBeGreaterThan(seconds - 30);
    // The service uses the database's clock, which it knows to a few milliseconds.
    expect(secondsUntil(expiresAt)).toBeLessThan(seconds + 1);
    await bearer(token).get("/rest/v1/assistants", 200);
  });

  test.each(["31d", "2592001", "721h", "0", "-1", "1w", "soon", "", "1.5h", "1h30m"])(
    "is not issued to %s",
    async (expiresIn) => {
      const { details } = await running.api.post(TOKEN, { expiresIn }, 400);
      expect(details).toEqual([{ path: "expiresIn", message: expect.any(String) }]);
    },
  );

  test("issued with a token expires no later than that one", async () => {
    const { token, expiresAt } = await running.api.post(TOKEN, { expiresIn: "2m" }, 200);
    const next = await bearer(token).post(TOKEN, { expiresIn: "1h" }, 200);
    expect(next.expiresAt).toBe(expiresAt);
    const shorter = await bearer(next.token).post(TOKEN, { expiresIn: "10s" }, 200);
    expect(secondsUntil(shorter.expiresAt)).toBeLessThanOrEqual(10);
  });

  test("becomes invalid with the key that issued it, through any number of tokens", async () => {
    const { api } = await running.otherOrganization();
    const { id, value } = await api.post(KEYS, {}, 200);
    const { token } = await withKey(value).post(TOKEN, {}, 200);
    const { token: second } = await bearer(token).post(TOKEN, {}, 200);
    await bearer(second).get("/rest/v1/assistants", 200);
    await api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
    for (const dead of [token, second]) await bearer(dead).get("/rest/v1/assistants", 401);
  });

  test("for a user can access assistants, but not settings, tokens or keys except the public one", async () => {
    const { token } = await running.api.post(TOKEN, { userId: "user 7" }, 200);
    const user = bearer(token);
    await user.post("/rest/v1/assistants", { name: "Theirs" }, 200);
    await user.get(`${KEYS}/public`, 200);
    for (const [method, path, body] of [
      ["POST", TOKEN, {}],
      ["GET", KEYS],
      ["POST", KEYS, {}],
      ["GET", `${KEYS}/${UNKNOWN_ID}`],
      ["PATCH", `${KEYS}/${UNKNOWN_ID}`, { status: "ACTIVE" }],
      ["DELETE", `${KEYS}/${UNKNOWN_ID}`],
      ["GET", "/rest/v1/settings"],
      ["GET", "/rest/v1/settings/secret"],
      ["POST", "/rest/v1/settings", { url: "https://example.com", secret: "s" }],
    ] as const) {
      const { status, body: answer } = await user.request(method, path, body);
      expect([method, path, status, answer.code]).toEqual([method, path, 403, "FORBIDDEN"]);
    }
  });
});
