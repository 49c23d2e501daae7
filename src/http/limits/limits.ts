import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { Caller } from "../../account/auth/caller";
import type { Config } from "../../platform/settings/config";
import { Attached } from "../../platform/attached";
import { DomainError } from "../../platform/errors";
import { sourceOf, type SourceOf } from "./client-address";
import type { LimitExchange } from "./limit-exchange";
import type { Consumption, SharedLimit } from "./shared-limit";

/** Separate rate limits, each per second. */
const POLICIES = ["organization", "credential", "anonymous", "download", "callback", "connection"] as const;
type Policy = (typeof POLICIES)[number];
type ByAddress = Exclude<Policy, "organization" | "credential">;
type LimitedCaller = Pick<Caller, "organizationId" | "keyId" | "userId" | "visitor">;

/** Limits requests per second in all servers: by organization and credential, or by address without a credential. */
export class RateLimits {
  /** The key that an address is limited by; undefined for unlimited addresses. */
  readonly sourceOf: SourceOf;
  private readonly limiters: Readonly<Record<Policy, SharedLimit>>;

  constructor(
    config: Config,
    /** Creates limits that count in all servers. */
    readonly exchange: Pick<LimitExchange, "limit">,
  ) {
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
      POLICIES.map((policy) => [policy, exchange.limit(policy, points[policy], 1)]),
    ) as Record<Policy, SharedLimit>; // covers every policy
  }

  /** Counts a request for its caller. @param res gets the headers with the remaining points @throws RATE_LIMITED */
  take(req: IncomingMessage, res: ServerResponse | undefined, caller: LimitedCaller | undefined): void {
    const source = this.sourceOf(req);
    if (source === undefined) return;
    const { organization, credential, anonymous } = this.limiters;
    if (!caller) return count(res, "anonymous", anonymous, source);
    // A credential limit equal to the organization's can never be reached first.
    if (credential.points < organization.points) count(res, "credential", credential, credentialOf(caller));
    count(res, "organization", organization, caller.organizationId);
  }

  /** Counts a request for its address, whoever the caller is. @throws RATE_LIMITED */
  private takeFor(policy: ByAddress, req: IncomingMessage, res: ServerResponse): void {
    const source = this.sourceOf(req);
    if (source !== undefined) count(res, policy, this.limiters[policy], source);
  }

  /** Limits requests for pages and downloads; API requests are counted for their caller. */
  readonly pages: RequestHandler = (req, res, next) => {
    this.takeFor("download", req, res);
    next();
  };

  /** Like `takeFor`, but returns false instead of throwing. @param key counted instead of the address */
  admits(policy: ByAddress, req: IncomingMessage, key?: string): boolean {
    const source = this.sourceOf(req);
    return source === undefined || this.limiters[policy].consume(key ?? source).admitted;
  }
}

/** Identifies a key or the holder of a token: users and visitors of one key do not share a limit. */
const credentialOf = ({ organizationId, keyId, userId, visitor }: LimitedCaller): string =>
  JSON.stringify([organizationId, keyId, userId, visitor && visitorOf(visitor)]);

/** Identifies a visitor across requests. */
export const visitorOf = (visitor: NonNullable<Caller["visitor"]>): string =>
  "chatId" in visitor ? visitor.chatId : visitor.id;

/**
 * Counts `points` for `key` and sets the headers with the rest.
 * @throws RATE_LIMITED
 */
export function count(
  res: ServerResponse | undefined,
  policy: string,
  limiter: SharedLimit,
  key: string,
  points = 1,
): void {
  const consumption = limiter.consume(key, points);
  setHeaders(res, policy, limiter, consumption);
  if (consumption.admitted) return;
  const seconds = Math.ceil(consumption.msBeforeNext / 1_000);
  res?.setHeader("Retry-After", String(seconds));
  const span = limiter.duration === 1 ? "a second" : `${limiter.duration} seconds`;
  const wait = seconds === 1 ? "a second" : `${seconds} seconds`;
  throw new DomainError(
    "RATE_LIMITED",
    `More than ${limiter.points} requests in ${span}. Try again in ${wait}.`,
  );
}

/** A limit that counted a request, as the headers state it. */
interface Stated {
  readonly policy: string;
  readonly points: number;
  readonly duration: number;
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

const stated = new Attached<readonly Stated[]>();

/** Lists every limit that counted the request, first the one with the fewest points left. */
function setHeaders(
  res: ServerResponse | undefined,
  policy: string,
  { points, duration }: SharedLimit,
  { remainingPoints, msBeforeNext }: Consumption,
): void {
  if (!res) return;
  const others = (stated.get(res) ?? []).filter((other) => other.policy !== policy);
  const all = [...others, { policy, points, duration, remainingPoints, msBeforeNext }].sort(
    (a, b) => a.remainingPoints - b.remainingPoints,
  );
  stated.set(res, all);
  const list = (itemOf: (limit: Stated) => string) => all.map(itemOf).join(", ");
  res.setHeader(
    "RateLimit-Policy",
    list(({ policy, points, duration }) => `"${policy}";q=${points};w=${duration}`),
  );
  res.setHeader(
    "RateLimit",
    list((limit) => `"${limit.policy}";r=${limit.remainingPoints};t=${Math.ceil(limit.msBeforeNext / 1000)}`),
  );
}
