import type { JWTPayload } from "jose";
import { DomainError } from "../errors";
import type { Caller } from "./caller";
import type { Crypto } from "./crypto";
import { signClaims, verifyClaims } from "./signed";

/** What a token says: whose it is, which key stands behind it, whom it speaks for, until when. */
export interface TokenClaims extends Pick<Caller, "organizationId" | "userId" | "visitor"> {
  readonly keyId: string;
  readonly expiresAt: Date;
}

interface Payload extends JWTPayload, Pick<Caller, "visitor"> {
  readonly org: string;
  readonly key: string;
  readonly exp: number;
}

/** A bearer token; one with a `visitor` is a session of a web page. */
export function signToken(
  crypto: Crypto,
  { organizationId, keyId, userId, visitor, expiresAt }: TokenClaims,
): Promise<string> {
  const claims = {
    org: organizationId,
    key: keyId,
    ...(userId !== undefined && { sub: userId }),
    ...(visitor && { visitor }),
  };
  return signClaims(crypto, claims, expiresAt);
}

/** @throws UNAUTHENTICATED when the token isn't ours, was changed, or has ended */
export async function verifyToken(crypto: Crypto, token: string): Promise<TokenClaims> {
  const payload = await verifyClaims<Payload>(crypto, token, undefined);
  if (!payload) throw new DomainError("UNAUTHENTICATED", "The bearer token is not valid, or it has expired.");
  const { org, key, sub, visitor, exp } = payload;
  return {
    organizationId: org,
    keyId: key,
    expiresAt: new Date(exp * 1_000),
    ...(sub !== undefined && { userId: sub }),
    ...(visitor && { visitor }),
  };
}
