import type { JWTPayload } from "jose";
import type { WidgetVisitor } from "./caller";
import type { Crypto } from "../../platform/crypto";
import { signClaims, verifyClaims } from "./signed";

/** Which browser it is, to one assistant or deployment of one organization. It opens nothing by itself. */
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

/** The browser's id, where the token is for this organization and target. */
export async function verifyVisitor(
  crypto: Crypto,
  token: string,
  { organizationId, target }: Omit<VisitorClaims, "id">,
): Promise<string | undefined> {
  const claims = (await verifyClaims<Payload, "BROWSER">(crypto, token, ["BROWSER"]))?.claims;
  const fits = claims?.org === organizationId && claims.target === JSON.stringify(target);
  return fits ? claims.sub : undefined;
}
