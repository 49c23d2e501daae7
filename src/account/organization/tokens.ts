import { currentTime } from "../../platform/clock";
import type { Caller } from "../auth/caller";
import { signToken } from "../auth/tokens";
import type { Scope } from "../../platform/database/scope";
import { DomainError, invalid, quoted } from "../../platform/errors";

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const MAX_LIFETIME_SECONDS = 30 * SECONDS.d;

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Short-lived bearer tokens. A token becomes invalid with the key that issued it. */
export class Tokens {
  constructor(private readonly scope: Scope) {}

  /**
   * Issues a token. A token issued by a token expires no later than that one.
   * @param input `expiresIn`: seconds (`3600`) or a duration (`60s 15m 1h 7d`); 1 hour by default, at most 30 days
   * @throws BAD_USER_INPUT; FORBIDDEN for a caller without a key
   */
  async issue(
    input: { userId?: string | null; expiresIn?: string | null },
    caller: Caller,
  ): Promise<IssuedToken> {
    const { organizationId, keyId, expiresAt: limit } = caller;
    if (keyId === undefined)
      throw new DomainError(
        "FORBIDDEN",
        "Only a key or a token can issue a token: send X-API-Key, or Authorization: Bearer <token>.",
      );
    const expiresAt = expiryOf(lifetimeSeconds(input.expiresIn ?? "1h"), limit);
    const user = input.userId != null && { userId: input.userId };
    const claims = { kind: "TOKEN", organizationId, keyId, expiresAt, ...user } as const;
    return { token: await signToken(this.scope.ports.crypto, claims), expiresAt };
  }
}

/** The expiry of a token: `seconds` from now, but not after the expiry of its issuer. */
export function expiryOf(seconds: number, limit: Date | undefined): Date {
  const requested = new Date((Math.floor(currentTime() / 1000) + seconds) * 1000);
  return limit !== undefined && limit < requested ? limit : requested;
}

/** Parses `expiresIn`. @throws BAD_USER_INPUT */
function lifetimeSeconds(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd]?)$/.exec(text.trim()) ?? [];
  const seconds = Number(digits) * SECONDS[(unit || "s") as keyof typeof SECONDS];
  if (!(seconds >= 1))
    throw invalid([
      {
        path: "expiresIn",
        message: `must be seconds such as "3600", or a duration such as "60s", "15m", "1h" or "7d"; got ${quoted(text)}`,
      },
    ]);
  if (seconds > MAX_LIFETIME_SECONDS)
    throw invalid([{ path: "expiresIn", message: `must be at most "30d"; got ${quoted(text)}` }]);
  return seconds;
}
