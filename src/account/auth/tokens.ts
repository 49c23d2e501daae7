import type { JWTPayload } from "jose";
import { DomainError } from "../../platform/errors";
import type { Caller } from "./caller";
import type { Crypto } from "../../platform/crypto";
import { signClaims, verifyClaims } from "./signed";

const KINDS = ["TOKEN", "VISITOR", "ANALYTICS"] as const;

/** What a token says: whose it is, which key stands behind it, whom it speaks for, until when. */
export interface TokenClaims extends Pick<Caller, "organizationId" | "userId" | "visitor"> {
  readonly kind: (typeof KINDS)[number];
  readonly keyId: string;
  readonly expiresAt: Date;
}

interface Payload extends JWTPayload, Pick<Caller, "visitor"> {
  readonly org: string;
  readonly key: string;
  readonly exp: number;
}

/** A bearer token, or the session of a web page or of the analytics page. */
export function signToken(
  crypto: Crypto,
  { kind, organizationId, keyId, userId, visitor, expiresAt }: TokenClaims,
): Promise<string> {
  const claims = {
    org: organizationId,
    key: keyId,
    ...(userId !== undefined && { sub: userId }),
    ...(visitor && { visitor }),
  };
  return signClaims(crypto, kind, claims, expiresAt);
}

/** @throws UNAUTHENTICATED when the token isn't ours, was changed, or has ended */
export async function verifyToken(crypto: Crypto, token: string): Promise<TokenClaims> {
  const verified = await verifyClaims<Payload, TokenClaims["kind"]>(crypto, token, KINDS);
  if (!verified)
    throw new DomainError("UNAUTHENTICATED", "The bearer token is not valid, or it has expired.");
  const { org, key, sub, visitor, exp } = verified.claims;
  return {
    kind: verified.use,
    organizationId: org,
    keyId: key,
    expiresAt: new Date(exp * 1_000),
    ...(sub !== undefined && { userId: sub }),
    ...(visitor && { visitor }),
  };
}
