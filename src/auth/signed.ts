import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import type { Crypto } from "./crypto";

const ALGORITHM = "HS256";
const ISSUER = "parley";

/** Signs claims until a moment. */
export function signClaims(crypto: Crypto, claims: JWTPayload, expiresAt: Date): Promise<string> {
  const { id, key } = crypto.tokenKey;
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid: id })
    .setIssuer(ISSUER)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(key);
}

/**
 * What was signed; undefined when it wasn't by us, was changed, has ended or is for another use.
 * @param audience what it must be for
 */
export async function verifyClaims<C extends JWTPayload>(
  crypto: Crypto,
  token: string,
  audience: C["aud"],
): Promise<C | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) =>
        crypto.tokenKeyById(kid) ?? Promise.reject(new Error("signed with a key that is not here")),
      { algorithms: [ALGORITHM], issuer: ISSUER, requiredClaims: ["exp"] },
    );
    return payload.aud === audience ? (payload as C) : undefined; // signed by us, for this use
  } catch {
    return undefined;
  }
}
