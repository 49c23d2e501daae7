import type { Request, Response } from "express";
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

  constructor(limits: { organization: number; anonymous: number }) {
    this.organization = new RateLimiterMemory({ points: limits.organization, duration: 1 });
    this.anonymous = new RateLimiterMemory({ points: limits.anonymous, duration: 1 });
  }

  /** Counts a request; callers on loopback are not counted. @throws RATE_LIMITED */
  async take(req: Request, res: Response, caller: Caller | undefined): Promise<void> {
    if (isLoopback(req.ip)) return;
    const limiter = caller ? this.organization : this.anonymous;
    const policy = caller ? "organization" : "anonymous";
    try {
      tell(res, policy, limiter.points, await limiter.consume(caller?.organizationId ?? req.ip ?? ""));
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      tell(res, policy, limiter.points, refused);
      res.setHeader("Retry-After", String(Math.ceil(refused.msBeforeNext / 1000)));
      throw new DomainError(
        "RATE_LIMITED",
        `More than ${limiter.points} requests a second. Try again in a second.`,
      );
    }
  }
}

function tell(
  res: Response,
  policy: string,
  points: number,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): void {
  res.setHeader("RateLimit-Policy", `"${policy}";q=${points};w=1`);
  res.setHeader("RateLimit", `"${policy}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`);
}
