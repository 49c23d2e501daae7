import type { Limits } from "./limits";

/** Who is asking. Made once per request, from its credential. */
export interface Caller {
  readonly organizationId: string;
  /** ANALYTICS is who opened the analytics page by a link: it reads what that page shows. ANONYMOUS is a caller without credential on the settings paths: it stands for the default organization there and nowhere else. */
  readonly kind: "SECRET" | "PUBLIC" | "TOKEN" | "VISITOR" | "ANALYTICS" | "ANONYMOUS";
  /** The key presented, or the key behind the token. */
  readonly keyId?: string;
  /** The user whom a token was issued for. */
  readonly userId?: string;
  /** Of a VISITOR: what the session is for. */
  readonly visitor?: Visitor;
  /** When the token or the key ends. */
  readonly expiresAt?: Date;
  /** Those of the key; undefined for one without limits. */
  readonly limits?: Limits;
}

/** Somebody on a web page: who talks with one assistant or by one deployment, or who holds one chat and nothing else. */
export type Visitor = WidgetVisitor | { readonly chatId: string };

export interface WidgetVisitor {
  /** Made for a browser at its first visit, and proved by its visitor token later. */
  readonly id: string;
  readonly target: { readonly assistantId: string } | { readonly deploymentId: string };
  /** Whom the page says the visitor is. */
  readonly uniqueId?: string;
  /** Whether the organization's signature says so too. */
  readonly signed: boolean;
}

/** A SECRET key, or a token that speaks for the organization itself and not for one of its users. */
export const speaksForOrganization = ({ kind, userId }: Caller): boolean =>
  kind === "SECRET" || (kind === "TOKEN" && userId === undefined);
