import type { IncomingMessage, ServerResponse } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Caller } from "../auth/caller";
import { DomainError } from "../errors";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Whether an address is this machine's own. */
export const isLoopback = (address: string | undefined): boolean => LOOPBACK.test(address ?? "");

/** Counts requests a second in this process: by organization, and by address where there is no credential. */
export class RateLimits {
  private readonly organization: RateLimiterMemory;
  private readonly anonymous: RateLimiterMemory;

  constructor(
    limits: { organization: number; anonymous: number },
    private readonly addressOf: (req: IncomingMessage) => string,
  ) {
    this.organization = new RateLimiterMemory({ points: limits.organization, duration: 1 });
    this.anonymous = new RateLimiterMemory({ points: limits.anonymous, duration: 1 });
  }

  /** Counts a request; callers on loopback are not counted. @throws RATE_LIMITED */
  async take(req: IncomingMessage, res: ServerResponse, caller: Caller | undefined): Promise<void> {
    const address = this.addressOf(req);
    if (isLoopback(address)) return;
    if (caller) await count(res, "organization", this.organization, caller.organizationId);
    else await count(res, "anonymous", this.anonymous, address);
  }
}

/**
 * Counts for `key`, and tells what is left.
 * @param points what it counts as
 * @throws RATE_LIMITED
 */
export async function count(
  res: ServerResponse,
  policy: string,
  limiter: RateLimiterMemory,
  key: string,
  points = 1,
): Promise<void> {
  try {
    tell(res, policy, limiter, await limiter.consume(key, points));
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    tell(res, policy, limiter, refused);
    const seconds = Math.ceil(refused.msBeforeNext / 1_000);
    res.setHeader("Retry-After", String(seconds));
    const span = limiter.duration === 1 ? "a second" : `${limiter.duration} seconds`;
    const wait = seconds === 1 ? "a second" : `${seconds} seconds`;
    throw new DomainError(
      "RATE_LIMITED",
      `More than ${limiter.points} requests in ${span}. Try again in ${wait}.`,
    );
  }
}

function tell(
  res: ServerResponse,
  policy: string,
  { points, duration }: RateLimiterMemory,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): void {
  res.setHeader("RateLimit-Policy", `"${policy}";q=${points};w=${duration}`);
  res.setHeader("RateLimit", `"${policy}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`);
}
