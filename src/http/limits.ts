import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Caller } from "../account/auth/caller";
import type { Config } from "../platform/settings/config";
import { DomainError } from "../platform/errors";
import { sourceOf, type SourceOf } from "./client-address";

/** What is counted apart, each in a second. */
const POLICIES = ["organization", "credential", "anonymous", "download", "callback", "connection"] as const;
type Policy = (typeof POLICIES)[number];
type ByAddress = Exclude<Policy, "organization" | "credential">;
type Counted = Pick<Caller, "organizationId" | "keyId" | "userId" | "visitor">;

/** Counts requests a second in this process: by organization and credential, and by address without a credential. */
export class RateLimits {
  /** What requests of an address are counted under; undefined for those that are not limited. */
  readonly sourceOf: SourceOf;
  private readonly limiters: Readonly<Record<Policy, RateLimiterMemory>>;

  constructor(config: Config) {
    this.sourceOf = sourceOf(config.TRUST_PROXY, config.RATE_LIMIT_LOOPBACK);
    const { RATE_LIMIT_ORGANIZATION: organization } = config;
    const points: Record<Policy, number> = {
      organization,
      credential: Math.min(config.RATE_LIMIT_CREDENTIAL ?? organization, organization),
      anonymous: config.RATE_LIMIT_ANONYMOUS,
      download: config.RATE_LIMIT_DOWNLOAD,
      callback: config.RATE_LIMIT_CALLBACK,
      connection: config.RATE_LIMIT_CONNECTION,
    };
    this.limiters = Object.fromEntries(
      POLICIES.map((policy) => [policy, new RateLimiterMemory({ points: points[policy], duration: 1 })]),
    ) as Record<Policy, RateLimiterMemory>; // each policy has one
  }

  /** Counts a request for its caller. @param res is told what is left. @throws RATE_LIMITED */
  async take(
    req: IncomingMessage,
    res: ServerResponse | undefined,
    caller: Counted | undefined,
  ): Promise<void> {
    const source = this.sourceOf(req);
    if (source === undefined) return;
    const { organization, credential, anonymous } = this.limiters;
    if (!caller) return count(res, "anonymous", anonymous, source);
    // One that takes as much as the organization may is never refused before it.
    if (credential.points < organization.points)
      await count(res, "credential", credential, credentialOf(caller));
    await count(res, "organization", organization, caller.organizationId);
  }

  /** Counts what is done by an address, whoever asks. @throws RATE_LIMITED */
  private async takeFor(policy: ByAddress, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const source = this.sourceOf(req);
    if (source !== undefined) await count(res, policy, this.limiters[policy], source);
  }

  /** Counts requests for pages and downloads; those of both interfaces are counted for their caller. */
  readonly pages: RequestHandler = async (req, res, next) => {
    await this.takeFor("download", req, res);
    next();
  };

  /** The same where a refusal is no error. @param key counts for this instead of the address */
  async admits(policy: ByAddress, req: IncomingMessage, key?: string): Promise<boolean> {
    const source = this.sourceOf(req);
    if (source === undefined) return true;
    return this.limiters[policy].consume(key ?? source).then(
      () => true,
      (refused: unknown) => {
        if (refused instanceof RateLimiterRes) return false;
        throw refused;
      },
    );
  }
}

/** A key, or who holds a token: users and visitors of one key do not share a limit. */
const credentialOf = ({ organizationId, keyId, userId, visitor }: Counted): string =>
  JSON.stringify([organizationId, keyId, userId, visitor && visitorOf(visitor)]);

/** What the visits of one visitor have in common. */
export const visitorOf = (visitor: NonNullable<Caller["visitor"]>): string =>
  "chatId" in visitor ? visitor.chatId : visitor.id;

/**
 * Counts for `key`, and tells what is left.
 * @param points what it counts as
 * @throws RATE_LIMITED
 */
export async function count(
  res: ServerResponse | undefined,
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
    res?.setHeader("Retry-After", String(seconds));
    const span = limiter.duration === 1 ? "a second" : `${limiter.duration} seconds`;
    const wait = seconds === 1 ? "a second" : `${seconds} seconds`;
    throw new DomainError(
      "RATE_LIMITED",
      `More than ${limiter.points} requests in ${span}. Try again in ${wait}.`,
    );
  }
}

function tell(
  res: ServerResponse | undefined,
  policy: string,
  { points, duration }: RateLimiterMemory,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): void {
  res?.setHeader("RateLimit-Policy", `"${policy}";q=${points};w=${duration}`);
  res?.setHeader("RateLimit", `"${policy}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`);
}
