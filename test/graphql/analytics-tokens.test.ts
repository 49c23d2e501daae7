import { describe, expect, test } from "@jest/globals";
import { signToken, verifyToken, type TokenClaims } from "../../src/account/auth/tokens";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { recording } from "../support/audit";
import { newAssistant } from "../support/factories";

const running = useApp();
const RENEW = "mutation { issueAnalyticsToken { token expiresAt expiresIn renewableUntil } }";
const READ = "{ analytics(input: {}) { totals { conversations } } logs { nodes { id } } }";
const KEYS = "/rest/v1/organization/keys";

interface Issued {
  readonly token: string;
  readonly expiresAt: string;
  readonly expiresIn: number;
  readonly renewableUntil: string;
}

const bearer = (token: string) => running.api.as({ Authorization: `Bearer ${token}` });
const byKey = (value: string) => running.api.as({ "X-API-Key": value });
const renew = async (api: Api): Promise<Issued> => (await api.gql(RENEW)).issueAnalyticsToken;
const linkToken = async (api: Api): Promise<string> => {
  const { organization } = await api.gql("{ organization { analyticUrl } }");
  return new URL(organization.analyticUrl).hash.replace("#token=", "");
};
const codeOf = async (token: string, document: string, variables = {}): Promise<string> =>
  (await bearer(token).gqlError(document, variables)).extensions.code;
const crypto = () => running.app.database.scope("").ports.crypto;
const claimsOf = (token: string) => verifyToken(crypto(), token);
/** Milliseconds from now to a time. */
const until = (time: string | Date) => new Date(time).getTime() - Date.now();
/** Allows for whole seconds and for the duration of a request. */
const TOLERANCE_MS = 10_000;
const expectAbout = (ms: number, expected: number) =>
  expect(Math.abs(ms - expected)).toBeLessThan(TOLERANCE_MS);

/** A token of the analytics page with a session that ends soon, or as an earlier version signed it. */
async function tokenWith(changes: Partial<TokenClaims>): Promise<string> {
  const { renewableUntil: _, ...claims } = await claimsOf(await linkToken(running.api));
  return signToken(crypto(), { ...claims, ...changes });
}

test("a token renews itself for 15 minutes, but not for longer than 12 hours after its link", async () => {
  const first = await linkToken(running.api);
  const second = await renew(bearer(first));
  const third = await renew(bearer(second.token));
  for (const { token, expiresAt, expiresIn, renewableUntil } of [second, third]) {
    expectAbout(until(expiresAt), 15 * 60_000);
    expectAbout(expiresIn * 1_000, 15 * 60_000);
    expect(new Date(renewableUntil)).toEqual((await claimsOf(first)).renewableUntil);
    expectAbout(until(renewableUntil), 12 * 3_600_000);
    expect((await bearer(token).gql(READ)).analytics.totals).toBeDefined();
  }
});

test("the last token of a session expires with it", async () => {
  const end = new Date(Date.now() + 60_000);
  end.setMilliseconds(0);
  const token = await tokenWith({ expiresAt: new Date(Date.now() + 30_000), renewableUntil: end });
  const renewed = await renew(bearer(token));
  expect([renewed.expiresAt, renewed.renewableUntil].map((time) => new Date(time))).toEqual([end, end]);
  expect(renewed.expiresIn).toBeLessThanOrEqual(60);
  expect(await renew(bearer(renewed.token))).toMatchObject({ expiresAt: renewed.expiresAt });
});

test("a token of an earlier version, without the end of its session, is not extended", async () => {
  const expiresAt = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 30_000);
  const renewed = await renew(bearer(await tokenWith({ expiresAt })));
  expect(new Date(renewed.expiresAt)).toEqual(expiresAt);
});

test("a session ends with the token that issued its link", async () => {
  const { issueToken } = await running.api.gql(
    'mutation { issueToken(input: { expiresIn: "60s" }) { token expiresAt } }',
  );
  const renewed = await renew(bearer(await linkToken(bearer(issueToken.token))));
  expect(renewed).toMatchObject({ expiresAt: issueToken.expiresAt, renewableUntil: issueToken.expiresAt });
});

describe("a token becomes invalid with its key:", () => {
  test.each([
    ["deactivated", (id: string) => running.api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200)],
    ["deleted", (id: string) => running.api.delete(`${KEYS}/${id}`, 200)],
  ])("once the key is %s, neither the link nor a renewed token reads or renews", async (_, end) => {
    const { id, value } = await running.api.post(KEYS, {}, 200);
    const link = await linkToken(byKey(value));
    const renewed = await renew(bearer(link));
    await end(id);
    for (const token of [link, renewed.token])
      for (const document of [READ, RENEW]) expect(await codeOf(token, document)).toBe("UNAUTHENTICATED");
  });
});

test("a renewed token reads no more than the first one", async () => {
  const assistantIds = [await newAssistant(running.api)];
  const { value } = await running.api.post(KEYS, { assistantIds, permissions: ["read"] }, 200);
  const { token } = await renew(bearer(await linkToken(byKey(value))));
  const claims = await claimsOf(token);
  expect(claims).toMatchObject({
    kind: "ANALYTICS",
    keyId: (await claimsOf(await linkToken(byKey(value)))).keyId,
  });
  const other = await newAssistant(running.api);
  const ONE = "query ($id: ID!) { analytics(input: { assistantId: $id }) { totals { conversations } } }";
  expect(await bearer(token).gql(ONE, { id: assistantIds[0] })).toBeDefined();
  expect(await codeOf(token, ONE, { id: other })).toBe("ASSISTANT_NOT_FOUND");
  expect(await codeOf(token, "mutation { createKey(input: {}) { id } }")).toBe("FORBIDDEN");
});

test("a renewal is recorded as a disclosure to the page", async () => {
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const token = await linkToken(running.api);
  const { rows } = await recording(running.database, id, () => renew(bearer(token)));
  expect(rows).toEqual([
    expect.objectContaining({ kind: "DISCLOSURE", actor: "ANALYTICS", operation: "issueAnalyticsToken" }),
  ]);
});
