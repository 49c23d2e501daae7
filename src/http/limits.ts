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
    const limiter = caller ? this.organization : this.anonymous;
    const policy = caller ? "organization" : "anonymous";
    try {
      tell(res, policy, limiter.points, await limiter.consume(caller?.organizationId ?? address));
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
  res: ServerResponse,
  policy: string,
  points: number,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): void {
  res.setHeader("RateLimit-Policy", `"${policy}";q=${points};w=1`);
  res.setHeader("RateLimit", `"${policy}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`);
}
