import { describe, expect, test } from "@jest/globals";
import { Crypto } from "../../src/auth/crypto";
import { signSession, verifySession } from "../../src/auth/sessions";
import { signToken, verifyToken } from "../../src/auth/tokens";

const crypto = new Crypto(["one key of at least 32 characters, for tests"]);
const claims = {
  organizationId: "o1",
  chatId: "c1",
  expiresAt: new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000),
};

describe("a session of one chat", () => {
  test("says its organization, its chat and its end", async () => {
    expect(await verifySession(crypto, await signSession(crypto, claims))).toEqual(claims);
  });

  test("is nothing once it has ended, was changed, or is somebody else's", async () => {
    const session = await signSession(crypto, claims);
    const over = await signSession(crypto, { ...claims, expiresAt: new Date(Date.now() - 1_000) });
    const other = await signSession(new Crypto(["another key of at least 32 characters"]), claims);
    for (const wrong of [over, other, `${session.slice(0, -2)}xx`, "", "a.b.c"])
      await expect(verifySession(crypto, wrong)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("is no bearer token, nor a bearer token a session", async () => {
    const token = await signToken(crypto, {
      kind: "TOKEN",
      organizationId: "o1",
      keyId: "k1",
      expiresAt: claims.expiresAt,
    });
    await expect(verifySession(crypto, token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(verifyToken(crypto, await signSession(crypto, claims))).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
  });
});
