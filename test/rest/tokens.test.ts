import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { signToken, verifyToken } from "../../src/account/auth/tokens";
import type { Api } from "../support/api";
import { useApp } from "../support/app";

const running = useApp();
const KEYS = "/rest/v1/organization/keys";
const ASSISTANTS = "/rest/v1/assistants";

const withToken = (token: string) => running.api.as({ Authorization: `Bearer ${token}` });
const issue = (body: object = {}, api: Api = running.api) =>
  api.post("/rest/v1/organization/token", body, 200);

describe("tokens", () => {
  test.each([
    [undefined, 3_600],
    ["3600", 3_600],
    ["60s", 60],
    ["15m", 900],
    ["1h", 3_600],
    ["7d", 604_800],
    ["30d", 2_592_000],
    ["2592000", 2_592_000],
  ])("with expiresIn %p expire after %d seconds", async (expiresIn, seconds) => {
    const { token, expiresAt } = await issue({ expiresIn });
    expect(Math.abs((Date.parse(expiresAt) - Date.now()) / 1000 - seconds)).toBeLessThanOrEqual(5);
    await withToken(token).get(ASSISTANTS, 200);
  });

  test.each(["31d", "2592001", "721h", "0", "0s", "-1", "1.5h", "1w", "soon", "", "1h ago", "999999999d"])(
    "with expiresIn %p return 400 that names it",
    async (expiresIn) => {
      const error = await running.api.post("/rest/v1/organization/token", { expiresIn }, 400);
      expect(error.details).toEqual([{ path: "expiresIn", message: expect.any(String) }]);
    },
  );

  test("become invalid with the key that issued them, as do tokens that they issued", async () => {
    const { id, value } = await running.api.post(KEYS, {}, 200);
    const first = withToken((await issue({}, running.api.as({ "X-API-Key": value }))).token);
    const second = withToken((await issue({}, first)).token);
    await second.get(ASSISTANTS, 200);
    await running.api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
    await first.get(ASSISTANTS, 401);
    await second.get(ASSISTANTS, 401);
  });

  test("issued with a token expire no later than it", async () => {
    const short = await issue({ expiresIn: "5m" });
    const child = await issue({ expiresIn: "7d" }, withToken(short.token));
    expect(child.expiresAt).toBe(short.expiresAt);
    const shorter = await issue({ expiresIn: "1m" }, withToken(short.token));
    expect(Date.parse(shorter.expiresAt)).toBeLessThan(Date.parse(short.expiresAt));
  });

  test("for a user can read and write data, and the public key, but not the organization's settings", async () => {
    const { id } = await running.api.post(KEYS, {}, 200);
    const user = withToken((await issue({ userId: "customer-42" })).token);
    const { id: assistantId } = await user.post(ASSISTANTS, { name: "Ada" }, 200);
    await user.get(`${ASSISTANTS}/${assistantId}`, 200);
    await user.get(`${KEYS}/public`, 200);
    const refused: [string, string, object?][] = [
      ["GET", "/rest/v1/settings"],
      ["GET", "/rest/v1/settings/secret"],
      ["POST", "/rest/v1/settings", { url: "https://example.com", secret: "s" }],
      ["POST", "/rest/v1/organization/token", {}],
      ["GET", KEYS],
      ["POST", KEYS, {}],
      ["GET", `${KEYS}/${id}`],
      ["PATCH", `${KEYS}/${id}`, { status: "INACTIVE" }],
      ["DELETE", `${KEYS}/${id}`],
    ];
    for (const [method, path, body] of refused)
      expect([method, path, await user.request(method, path, body)]).toEqual([
        method,
        path,
        expect.objectContaining({ status: 403, body: expect.objectContaining({ code: "FORBIDDEN" }) }),
      ]);
  });
});

describe("invalid credentials", () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  test("include forged and modified tokens, which get 401", async () => {
    const other = await running.otherOrganization();
    const { token } = await issue({ userId: "customer-42" });
    const [head = "", payload = "", signature = ""] = token.split(".");
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as object;
    const elsewhere = encode({ ...read(payload), org: other.organizationId });
    const { sub: _, ...anybody } = read(payload) as { sub: string };
    const self = (body: string) => createHmac("sha256", "guess").update(body).digest("base64url");
    const forged = [
      `${encode({ ...read(head), alg: "none" })}.${payload}.`,
      `${encode({ ...read(head), alg: "none" })}.${payload}.${signature}`,
      `${encode({ ...read(head), alg: "HS512" })}.${payload}.${signature}`,
      `${encode({ ...read(head), kid: "other" })}.${payload}.${signature}`,
      `${head}.${elsewhere}.${signature}`,
      `${head}.${encode(anybody)}.${signature}`,
      `${head}.${encode({ ...read(payload), exp: 9_999_999_999 })}.${signature}`,
      `${head}.${payload}.${self(`${head}.${payload}`)}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      token.slice(1),
      `${token}x`,
      "x",
    ];
    await withToken(token).get(ASSISTANTS, 200);
    for (const made of forged)
      expect([made, (await withToken(made).request("GET", ASSISTANTS)).status]).toEqual([made, 401]);
  });

  test("of another organization find nothing", async () => {
    const other = await running.otherOrganization();
    const { id } = await other.api.post(ASSISTANTS, { name: "Theirs" }, 200);
    const error = await withToken((await issue()).token).get(`${ASSISTANTS}/${id}`, 400);
    expect(error.code).toBe("ASSISTANT_NOT_FOUND");
  });

  test.each<[string, Record<string, string>]>([
    ["an unknown key", { "X-API-Key": "parley_sk_000000000000000000000000000000000000" }],
    ["a broken token", { Authorization: "Bearer x.y.z" }],
    ["another scheme", { Authorization: "Basic eDp5" }],
    ["a key as a token", { Authorization: "Bearer secret-key-of-the-default-organization" }],
  ])("return 401 everywhere for %s, also where none is needed", async (_, headers) => {
    const bad = running.api.as(headers);
    for (const path of [ASSISTANTS, "/rest/v1/settings", "/rest/v1/settings/secret", "/rest/v1/files"])
      expect(await bad.get(path, 401)).toMatchObject({ statusCode: 401, code: "UNAUTHENTICATED" });
    expect((await bad.graphql("{ __typename }")).status).toBe(401);
  });

  const ID = "0192f0b2-53cf-7e88-b1a0-94d2c7e6f013";
  const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });
  const key = (value: string) => ({ "X-API-Key": value });
  const SECRET_KEY = `parley_sk_${"0".repeat(36)}`;
  const SEND =
    "Send an API key in X-API-Key, or a token of POST /rest/v1/organization/token in Authorization: Bearer <token>.";
  const RECORD = `This looks like the id of a record. A key is sent by its value, which begins with parley_sk_ or parley_pk_. ${SEND}`;
  test.each<[string, Record<string, string>, string]>([
    [
      "a SECRET key as a token",
      bearer(SECRET_KEY),
      "This looks like a SECRET key, not a token. Send it in X-API-Key.",
    ],
    [
      "a PUBLIC key as a token",
      bearer(SECRET_KEY.replace("sk", "pk")),
      "This looks like a PUBLIC key, not a token. Send it in X-API-Key.",
    ],
    ["a key's id as a token", bearer(ID), RECORD],
    ["a key's id as a key", key(ID), RECORD],
    [
      "a webhook's secret as a token",
      bearer("whsec_abc"),
      `This looks like the secret of a webhook. ${SEND}`,
    ],
    ["a webhook's secret as a key", key("whsec_abc"), `This looks like the secret of a webhook. ${SEND}`],
    [
      "another text as a token",
      bearer("topsecret"),
      `This is not a token: a token has three parts, separated by dots. ${SEND}`,
    ],
    ...["", "Bearer "].map((prefix): [string, Record<string, string>, string] => [
      `a token as a key with the prefix "${prefix}"`,
      key(`${prefix}eyJhbGciOiJIUzI1NiJ9.e30.c2ln`),
      "This looks like a token, not an API key. Send it in Authorization: Bearer <token>.",
    ]),
    [
      "a key with the word Bearer",
      key(`Bearer ${SECRET_KEY}`),
      "Send the API key in X-API-Key alone, without the word Bearer.",
    ],
    [
      "a key that was cut",
      key(SECRET_KEY.slice(0, -1)),
      "This API key is incomplete or mistyped: 36 letters and digits follow parley_sk_. Copy its whole value.",
    ],
    ...[
      `"${SECRET_KEY}"`,
      `'${SECRET_KEY}',`,
      `\\"${SECRET_KEY}\\"`,
      `<${SECRET_KEY}>`,
      `="${SECRET_KEY}";`,
    ].map((value): [string, Record<string, string>, string] => [
      `a key with characters around it, ${value.replace(SECRET_KEY, "…")}`,
      key(value),
      "This API key has quotes or other characters around it. Send its value alone, beginning with parley_sk_ or parley_pk_.",
    ]),
    [
      "a token with quotes around it",
      bearer('"eyJhbGciOiJIUzI1NiJ9.e30.c2ln"'),
      "This token has quotes or other characters around it. Send its value alone.",
    ],
    [
      "an unknown key",
      key(SECRET_KEY),
      "This API key is unknown. Check that it belongs to this server, or create another with POST /rest/v1/organization/keys and another key, or on the server: `npm run --silent key:create`.",
    ],
  ])("say what was sent and what to send, on both interfaces: %s", async (_, headers, message) => {
    const wrong = running.api.as(headers);
    expect(await wrong.get(ASSISTANTS, 401)).toMatchObject({ code: "UNAUTHENTICATED", message });
    const { status, text } = await wrong.graphql("{ __typename }");
    expect([status, text]).toEqual([401, expect.stringContaining(JSON.stringify(message).slice(1, -1))]);
  });

  test("whose holder has the right secret say whether they expired or were made inactive", async () => {
    const { api } = running;
    const expired = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
    const { crypto } = running.app.database.scope("").ports;
    const claims = await verifyToken(crypto, (await issue()).token);
    const old = await signToken(crypto, { ...claims, expiresAt: expired });
    expect((await withToken(old).get(ASSISTANTS, 401)).message).toBe(
      `The bearer token expired at ${expired.toISOString()}. Request a new token.`,
    );
    const { id, value } = await api.post(KEYS, {}, 200);
    const { token } = await issue({}, api.as(key(value)));
    await api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
    expect((await api.as(key(value)).get(ASSISTANTS, 401)).message).toBe(
      "This API key is inactive. Activate it with another key: PATCH /rest/v1/organization/keys/{keyId}. Without another key, create one on the server: `npm run --silent key:create`.",
    );
    expect((await withToken(token).get(ASSISTANTS, 401)).message).toBe(
      "The key that issued this bearer token is inactive, expired or deleted. Request a new token with an active key.",
    );
    await running.database.query("update api_keys set status = 'ACTIVE', expires_at = $1 where id = $2", [
      expired,
      id,
    ]);
    await api.patch(`${KEYS}/${id}`, { status: "ACTIVE" }, 200);
    expect((await api.as(key(value)).get(ASSISTANTS, 401)).message).toBe(
      `This API key expired at ${expired.toISOString()}. Create another with POST /rest/v1/organization/keys and another key, or on the server: \`npm run --silent key:create\`.`,
    );
  });

  test("include tokens where a key is required", async () => {
    const token = withToken((await issue()).token);
    expect(await token.get("/rest/v1/files", 401)).toMatchObject({ code: "UNAUTHENTICATED" });
    expect((await token.gqlError("{ files { meta { page } } }")).extensions.code).toBe("UNAUTHENTICATED");
  });
});
