import { describe, expect, test } from "@jest/globals";
import { Crypto } from "../../src/platform/crypto";
import { signToken, verifyToken } from "../../src/account/auth/tokens";
import { signVisitor, verifyVisitor } from "../../src/account/auth/visitor-tokens";

const crypto = new Crypto(["one key of at least 32 characters, for tests"]);
const stranger = new Crypto(["another key of at least 32 characters"]);
const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000);
const past = new Date(Date.now() - 1_000);
const token = { kind: "TOKEN", organizationId: "o1", keyId: "k1", expiresAt } as const;
const target = { assistantId: "a1" };
const session = { ...token, kind: "VISITOR", visitor: { id: "v1", target, signed: false } } as const;
const visitor = { organizationId: "o1", id: "v1", target: { assistantId: "a1" } };

describe("a bearer token", () => {
  test.each([
    ["the organization", token],
    ["one of its users", { ...token, userId: "ada" }],
    ["a visitor of a web page", session],
    ["a visitor of one chat", { ...session, visitor: { chatId: "c1" } }],
    ["a viewer of the analytics page", { ...token, kind: "ANALYTICS" as const }],
  ])("identifies its subject %s", async (_whom, claims) => {
    expect(await verifyToken(crypto, await signToken(crypto, claims))).toEqual(claims);
  });

  test("that has expired is told apart from one with another signature, whatever the latter claims", async () => {
    const over = await signToken(crypto, { ...session, expiresAt: past });
    const seconds = new Date(Math.floor(past.getTime() / 1_000) * 1_000).toISOString();
    const message = `The bearer token expired at ${seconds}. Request a new token.`;
    await expect(verifyToken(crypto, over)).rejects.toMatchObject({ code: "UNAUTHENTICATED", message });
    const [head, payload, signature] = over.split(".");
    const elsewhere = await signToken(stranger, { ...session, expiresAt: past });
    const asBrowser = await signVisitor(crypto, visitor, past);
    for (const forged of [
      elsewhere,
      asBrowser,
      `${head}.${payload}.${signature!.slice(0, -4)}AAAA`,
      `${head}.${payload}.`,
    ])
      await expect(verifyToken(crypto, forged)).rejects.toMatchObject({
        message:
          "This bearer token is not valid: it was changed, or another server issued it. Request a new token.",
      });
  });

  test("is invalid after it has expired, was changed, or with another key", async () => {
    const signed = await signToken(crypto, session);
    const over = await signToken(crypto, { ...session, expiresAt: past });
    const other = await signToken(stranger, session);
    for (const wrong of [over, other, `${signed.slice(0, -6)}xxxxxx`, "", "a.b.c"])
      await expect(verifyToken(crypto, wrong)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });
});

describe("a visitor token", () => {
  test("identifies its browser to the same assistant of the same organization", async () => {
    expect(await verifyVisitor(crypto, await signVisitor(crypto, visitor, expiresAt), visitor)).toBe("v1");
  });

  test("is invalid for others, after expiry or a change, and if it is a bearer token", async () => {
    const signed = await signVisitor(crypto, visitor, expiresAt);
    for (const elsewhere of [
      { ...visitor, organizationId: "o2" },
      { ...visitor, target: { assistantId: "a2" } },
      { ...visitor, target: { deploymentId: "a1" } },
    ])
      expect(await verifyVisitor(crypto, signed, elsewhere)).toBeUndefined();
    const wrong = [
      await signVisitor(crypto, visitor, past),
      await signVisitor(stranger, visitor, expiresAt),
      await signToken(crypto, session),
      `${signed.slice(0, -6)}xxxxxx`,
      "a.b.c",
    ];
    for (const one of wrong) expect(await verifyVisitor(crypto, one, visitor)).toBeUndefined();
  });

  test("is not accepted as a bearer token", async () => {
    const signed = await signVisitor(crypto, visitor, expiresAt);
    await expect(verifyToken(crypto, signed)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });
});
