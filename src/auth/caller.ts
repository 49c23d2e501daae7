/** Who is asking. Made once per request, from its credential. */
export interface Caller {
  readonly organizationId: string;
  /** ANALYTICS is who opened the analytics page by a link: it reads what that page shows. ANONYMOUS is a caller without credential on the settings paths: it stands for the default organization there and nowhere else. */
  readonly kind: "SECRET" | "PUBLIC" | "TOKEN" | "ANALYTICS" | "ANONYMOUS";
  /** The key presented, or the key behind the token. */
  readonly keyId?: string;
  /** The user whom a token was issued for. */
  readonly userId?: string;
  /** When the token ends. */
  readonly expiresAt?: Date;
}

/** A SECRET key, or a token that speaks for the organization itself and not for one of its users. */
export const speaksForOrganization = ({ kind, userId }: Caller): boolean =>
  kind === "SECRET" || (kind === "TOKEN" && userId === undefined);
