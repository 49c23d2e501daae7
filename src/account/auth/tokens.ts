import type { JWTPayload } from "jose";
import { DomainError } from "../../platform/errors";
import type { Caller } from "./caller";
import type { Crypto } from "../../platform/crypto";
import { adviceOnToken } from "./mistaken";
import { signClaims, verifyClaims } from "./signed";

const KINDS = ["TOKEN", "VISITOR", "ANALYTICS"] as const;

/** Claims of a token: its organization, the key that issued it, its user or visitor, and its expiry. */
export interface TokenClaims extends Pick<Caller, "organizationId" | "userId" | "visitor"> {
  readonly kind: (typeof KINDS)[number];
  readonly keyId: string;
  readonly expiresAt: Date;
  /** Of a token of the analytics page: when its last renewal expires. */
  readonly renewableUntil?: Date;
}

interface Payload extends JWTPayload, Pick<Caller, "visitor"> {
  readonly org: string;
  readonly key: string;
  readonly exp: number;
  /** In seconds, as `exp`. */
  readonly until?: number;
}

/** Signs a bearer token, or a session token of a web page or the analytics page. */
export function signToken(
  crypto: Crypto,
  { kind, organizationId, keyId, userId, visitor, expiresAt, renewableUntil }: TokenClaims,
): Promise<string> {
  const claims = {
    org: organizationId,
    key: keyId,
    ...(userId !== undefined && { sub: userId }),
    ...(visitor && { visitor }),
    ...(renewableUntil && { until: Math.floor(renewableUntil.getTime() / 1_000) }),
  };
  return signClaims(crypto, kind, claims, expiresAt);
}

/** The error for a token of this service that has expired. */
export const tokenExpired = (expiredAt: Date): DomainError =>
  new DomainError(
    "UNAUTHENTICATED",
    `The bearer token expired at ${expiredAt.toISOString()}. Request a new token.`,
  );

/** @throws UNAUTHENTICATED if the token is not from this service, was changed, or has expired */
export async function verifyToken(crypto: Crypto, token: string): Promise<TokenClaims> {
  const verified = await verifyClaims<Payload, TokenClaims["kind"]>(crypto, token, KINDS);
  if (!verified) throw new DomainError("UNAUTHENTICATED", adviceOnToken(token));
  if ("expiredAt" in verified) throw tokenExpired(verified.expiredAt);
  const { org, key, sub, visitor, exp, until } = verified.claims;
  return {
    kind: verified.use,
    organizationId: org,
    keyId: key,
    expiresAt: new Date(exp * 1_000),
    ...(sub !== undefined && { userId: sub }),
    ...(visitor && { visitor }),
    ...(until !== undefined && { renewableUntil: new Date(until * 1_000) }),
  };
}
