import { currentTime } from "../../platform/clock";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { speaksForOrganization, type Caller } from "../auth/caller";
import { signToken } from "../auth/tokens";
import { expiryOf } from "./tokens";

const TOKEN_SECONDS = 15 * 60;
/** How long after a link was made its page can renew the token. */
const SESSION_SECONDS = 12 * 3_600;

/** Periods that the page offers, in days. */
export const LINK_PERIODS = ["7", "30", "90", "365"] as const;
export type LinkPeriod = (typeof LINK_PERIODS)[number];

export interface AnalyticsToken {
  readonly token: string;
  readonly expiresAt: Date;
  /** In seconds. */
  readonly expiresIn: number;
  /** The token can be renewed, but no renewal expires later than this. */
  readonly renewableUntil: Date;
}

/** Tokens and links of the analytics page. They become invalid with the key that issued them. */
export class AnalyticsTokens {
  constructor(private readonly scope: Scope) {}

  /** Issues a token. The page uses it to renew its own. @throws FORBIDDEN for a caller without a key */
  async issue({ kind, organizationId, keyId, expiresAt, renewableUntil }: Caller): Promise<AnalyticsToken> {
    if (keyId === undefined) throw new DomainError("FORBIDDEN", "Only a key or a token can issue a token.");
    const until =
      kind === "ANALYTICS" ? (renewableUntil ?? expiresAt!) : expiryOf(SESSION_SECONDS, expiresAt);
    return this.sign(organizationId, keyId, until);
  }

  /**
   * A link to the page; undefined if the caller does not act for the organization. The token is in the fragment, which
   * browsers do not send to servers.
   */
  async link(caller: Caller): Promise<string | undefined> {
    if (caller.keyId === undefined || !speaksForOrganization(caller)) return undefined;
    return this.linkOf(await this.issue(caller));
  }

  /**
   * A link for the operator, bound to the newest active SECRET key without limits; undefined if there is none.
   * @param period the days to show at first
   */
  async operatorLink(period?: LinkPeriod): Promise<string | undefined> {
    const { organizationId } = this.scope;
    const [key] = await this.scope
      .table("api_keys")
      .where({ type: "SECRET", status: "ACTIVE", permissions: null, assistantIds: null })
      .whereRaw("(expires_at is null or expires_at > now())")
      .orderBy(NEWEST_FIRST)
      .limit(1);
    if (!key) return undefined;
    const until = expiryOf(SESSION_SECONDS, key.expiresAt ?? undefined);
    return this.linkOf(await this.sign(organizationId, key.id, until), period);
  }

  private async sign(organizationId: string, keyId: string, renewableUntil: Date): Promise<AnalyticsToken> {
    const expiresAt = expiryOf(TOKEN_SECONDS, renewableUntil);
    const claims = { kind: "ANALYTICS", organizationId, keyId, expiresAt, renewableUntil } as const;
    const expiresIn = Math.max(0, Math.round((expiresAt.getTime() - currentTime()) / 1_000));
    return { token: await signToken(this.scope.ports.crypto, claims), expiresAt, expiresIn, renewableUntil };
  }

  private linkOf({ token }: AnalyticsToken, period?: LinkPeriod): string {
    const query = period === undefined ? "" : `?period=${period}`;
    return `${this.scope.ports.publicUrl()}/analytics${query}#token=${token}`;
  }
}
