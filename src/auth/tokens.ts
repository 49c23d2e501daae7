import { jwtVerify, SignJWT } from "jose";
import { DomainError } from "../errors";
import type { Caller } from "./caller";
import type { Crypto } from "./crypto";

/** What a token says: whose it is, which key stands behind it, whom it speaks for, until when. */
export interface TokenClaims extends Pick<Caller, "organizationId" | "userId"> {
  readonly kind: keyof typeof ISSUERS;
  readonly keyId: string;
  readonly expiresAt: Date;
}

const ALGORITHM = "HS256";
/** A token of one kind is no token at all to who knows the other kind only. */
const ISSUERS = { TOKEN: "parley", ANALYTICS: "parley/analytics" } as const;

type Payload = { iss: string; org: string; key: string; sub?: string; exp: number };

export async function signToken(crypto: Crypto, claims: TokenClaims): Promise<string> {
  const { id, key } = crypto.tokenKey;
  const jwt = new SignJWT({ org: claims.organizationId, key: claims.keyId })
    .setProtectedHeader({ alg: ALGORITHM, kid: id })
    .setIssuer(ISSUERS[claims.kind])
    .setIssuedAt()
    .setExpirationTime(claims.expiresAt);
  if (claims.userId !== undefined) jwt.setSubject(claims.userId);
  return jwt.sign(key);
}

/** @throws UNAUTHENTICATED when the token isn't ours, was changed, or has ended */
export async function verifyToken(crypto: Crypto, token: string): Promise<TokenClaims> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) =>
        crypto.tokenKeyById(kid) ?? Promise.reject(new Error("signed with a key that is not here")),
      { algorithms: [ALGORITHM], issuer: Object.values(ISSUERS), requiredClaims: ["org", "key", "exp"] },
    );
    const { iss, org, key, sub, exp } = payload as Payload; // signed by us, with these claims
    const kind = iss === ISSUERS.ANALYTICS ? "ANALYTICS" : "TOKEN";
    const claims = { kind, organizationId: org, keyId: key, expiresAt: new Date(exp * 1000) } as const;
    return sub === undefined ? claims : { ...claims, userId: sub };
  } catch {
    throw new DomainError("UNAUTHENTICATED", "The bearer token is not valid, or it has expired.");
  }
}
