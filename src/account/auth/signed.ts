import { errors, jwtVerify, SignJWT, type JWTPayload } from "jose";
import { currentDate } from "../../platform/clock";
import type { Crypto } from "../../platform/crypto";

const ALGORITHM = "HS256";
/** One issuer per use of claims, so that a server, also one of an older version, rejects claims for other uses. */
const ISSUERS = {
  TOKEN: "parley",
  VISITOR: "parley/visitor",
  ANALYTICS: "parley/analytics",
  BROWSER: "parley/browser",
} as const;
export type TokenUse = keyof typeof ISSUERS;

/** Signs claims as a JWT. */
export function signClaims(
  crypto: Crypto,
  use: TokenUse,
  claims: JWTPayload,
  expiresAt: Date,
): Promise<string> {
  const { id, key } = crypto.tokenKey;
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid: id })
    .setIssuer(ISSUERS[use])
    .setIssuedAt(currentDate())
    .setExpirationTime(expiresAt)
    .sign(key);
}

/** A JWT that this service signed for a use. */
export type Verified<C, U> =
  | { readonly use: U; readonly claims: C }
  /** When it expired. Only its holder can learn this, because the signature is verified first. */
  | { readonly expiredAt: Date };

/**
 * Verifies a signed JWT.
 * @returns its claims and use, or its expiry if it has expired; undefined if it is not signed by this service, was
 * changed, or is for none of `uses`
 */
export async function verifyClaims<C extends JWTPayload, U extends TokenUse>(
  crypto: Crypto,
  token: string,
  uses: readonly U[],
): Promise<Verified<C, U> | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => crypto.tokenKeyById(kid) ?? Promise.reject(new Error("Unknown signing key.")),
      {
        algorithms: [ALGORITHM],
        issuer: uses.map((use) => ISSUERS[use]),
        requiredClaims: ["exp"],
        currentDate: currentDate(),
      },
    );
    const use = uses.find((one) => ISSUERS[one] === payload.iss)!; // jwtVerify checked the issuer
    return { use, claims: payload as C }; // signed by us, for this use
  } catch (error) {
    // Thrown after the signature, the algorithm and the issuer have been verified.
    const { exp } = error instanceof errors.JWTExpired ? error.payload : {};
    return exp === undefined ? undefined : { expiredAt: new Date(exp * 1_000) };
  }
}
