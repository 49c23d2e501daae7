import type { JWTPayload } from "jose";
import type { WidgetVisitor } from "./caller";
import type { Crypto } from "../../platform/crypto";
import { signClaims, verifyClaims } from "./signed";

/** Identifies a browser to one assistant or deployment. Grants no access by itself. */
export interface VisitorClaims extends Pick<WidgetVisitor, "id" | "target"> {
  readonly organizationId: string;
}

interface Payload extends JWTPayload {
  readonly org: string;
  readonly sub: string;
  readonly target: string;
}

export const signVisitor = (
  crypto: Crypto,
  { organizationId, id, target }: VisitorClaims,
  expiresAt: Date,
): Promise<string> =>
  signClaims(crypto, "BROWSER", { org: organizationId, sub: id, target: JSON.stringify(target) }, expiresAt);

/** Verifies a visitor token. @returns the visitor's id; undefined if the token is for another organization or target */
export async function verifyVisitor(
  crypto: Crypto,
  token: string,
  { organizationId, target }: Omit<VisitorClaims, "id">,
): Promise<string | undefined> {
  const verified = await verifyClaims<Payload, "BROWSER">(crypto, token, ["BROWSER"]);
  const claims = verified && "claims" in verified ? verified.claims : undefined;
  const matches = claims?.org === organizationId && claims.target === JSON.stringify(target);
  return matches ? claims.sub : undefined;
}
