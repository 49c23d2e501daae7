import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import { currentDate } from "../../platform/clock";
import type { Crypto } from "../../platform/crypto";

const ALGORITHM = "HS256";
/** What claims are signed for. Those for one use are none at all to who knows only another, as an older server may. */
const ISSUERS = {
  TOKEN: "parley",
  VISITOR: "parley/visitor",
  ANALYTICS: "parley/analytics",
  BROWSER: "parley/browser",
} as const;
export type Use = keyof typeof ISSUERS;

/** Signs claims until a moment. */
export function signClaims(crypto: Crypto, use: Use, claims: JWTPayload, expiresAt: Date): Promise<string> {
  const { id, key } = crypto.tokenKey;
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid: id })
    .setIssuer(ISSUERS[use])
    .setIssuedAt(currentDate())
    .setExpirationTime(expiresAt)
    .sign(key);
}

/** What was signed, and for which of these uses; undefined when it wasn't by us, was changed, has ended or is for another use. */
export async function verifyClaims<C extends JWTPayload, U extends Use>(
  crypto: Crypto,
  token: string,
  uses: readonly U[],
): Promise<{ readonly use: U; readonly claims: C } | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) =>
        crypto.tokenKeyById(kid) ?? Promise.reject(new Error("signed with a key that is not here")),
      {
        algorithms: [ALGORITHM],
        issuer: uses.map((use) => ISSUERS[use]),
        requiredClaims: ["exp"],
        currentDate: currentDate(),
      },
    );
    const use = uses.find((one) => ISSUERS[one] === payload.iss)!; // it was checked to be one of them
    return { use, claims: payload as C }; // signed by us, for this use
  } catch {
    return undefined;
  }
}
