import { jwtVerify, SignJWT } from "jose";
import { DomainError } from "../errors";
import type { Crypto } from "./crypto";

/** What a session is bound to: one chat, and nothing else of the organization. */
export interface SessionClaims {
  readonly organizationId: string;
  readonly chatId: string;
  readonly expiresAt: Date;
}

const ALGORITHM = "HS256";
const ISSUER = "parley";
/** Tells a session from a bearer token, which has none. */
const AUDIENCE = "chat-session";

/** A token for a web page that holds one chat. It may stand in the fragment of a link, where no server sees it. */
export function signSession(
  crypto: Crypto,
  { organizationId, chatId, expiresAt }: SessionClaims,
): Promise<string> {
  const { id, key } = crypto.tokenKey;
  return new SignJWT({ org: organizationId, chat: chatId })
    .setProtectedHeader({ alg: ALGORITHM, kid: id })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(key);
}

/** @throws UNAUTHENTICATED when the session isn't ours, was changed, or has ended */
export async function verifySession(crypto: Crypto, token: string): Promise<SessionClaims> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) =>
        crypto.tokenKeyById(kid) ?? Promise.reject(new Error("signed with a key that is not here")),
      { algorithms: [ALGORITHM], issuer: ISSUER, audience: AUDIENCE, requiredClaims: ["org", "chat", "exp"] },
    );
    const { org, chat, exp } = payload as { org: string; chat: string; exp: number }; // signed by us, with these claims
    return { organizationId: org, chatId: chat, expiresAt: new Date(exp * 1_000) };
  } catch {
    throw new DomainError("UNAUTHENTICATED", "The session is not valid, or it has expired.");
  }
}
