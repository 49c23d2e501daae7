import type { Limits } from "./limits";

/** The sender of a request. Created once per request, from its credential. */
export interface Caller {
  readonly organizationId: string;
  /**
   * ANALYTICS opened the analytics page by a link and can read only what that page shows. ANONYMOUS has no credential; on
   * the settings paths, and only there, it acts for the default organization.
   */
  readonly kind: "SECRET" | "PUBLIC" | "TOKEN" | "VISITOR" | "ANALYTICS" | "ANONYMOUS";
  /** The key that was sent, or that issued the token. */
  readonly keyId?: string;
  /** The user that the token was issued for. */
  readonly userId?: string;
  /** Set for a VISITOR: the chat, assistant or deployment that the session gives access to. */
  readonly visitor?: Visitor;
  /** Expiry of the token or the key. */
  readonly expiresAt?: Date;
  /** Set for ANALYTICS: when the last renewal of the token expires. */
  readonly renewableUntil?: Date;
  /** Limits of the key; undefined without limits. */
  readonly limits?: Limits;
}

/** A visitor of a web page, with access to one assistant or deployment, or to a single chat. */
export type Visitor = WidgetVisitor | { readonly chatId: string };

export interface WidgetVisitor {
  /** Generated at the first visit of a browser; later visits prove it with a visitor token. */
  readonly id: string;
  readonly target: { readonly assistantId: string } | { readonly deploymentId: string };
  /** The page's own id of the visitor. */
  readonly uniqueId?: string;
  /** Whether the organization has signed `uniqueId`. */
  readonly signed: boolean;
}

/** Whether the caller acts for the whole organization: a SECRET key, or a token without a user. */
export const speaksForOrganization = ({ kind, userId }: Caller): boolean =>
  kind === "SECRET" || (kind === "TOKEN" && userId === undefined);
