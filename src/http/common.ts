import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";
import { newId } from "../platform/database/ids";

/** The id that the answer, its error body and the log share. */
export const requestId = (res: ServerResponse): string => String(res.getHeader("X-Request-Id"));

/** Paths beside the REST rows that only tell. */
export const READ_ONLY = [
  "/",
  "/rest/docs",
  "/rest/openapi.json",
  "/analytics",
  "/files/:organizationId/:id",
  "/exports/:organizationId/:id",
  "/health/live",
  "/health/ready",
  "/metrics",
];

/** Begins an answer: the headers that every one has, and what any origin may read of it without cookies. */
export function begin(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader("X-Request-Id", newId());
  for (const [name, value] of HARDENED) res.setHeader(name, value);
  if (!/^\/(rest|graphql)(\/|\?|$)/.test(req.url!)) return;
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader(
    "Access-Control-Allow-Headers",
    "X-API-Key, Authorization, Content-Type, Idempotency-Key, X-Public-Key, X-Public-Token",
  );
  res.setHeader("Access-Control-Expose-Headers", EXPOSED);
}

const EXPOSED =
  "X-Request-Id, GraphQL-Operation, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, Warning";

/** Answers are data: nothing in them is to be run, framed or guessed at. Pages set a policy of their own. */
const harden = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: "cross-origin" },
  strictTransportSecurity: false,
});

/** What Helmet sets is the same on every answer: it is asked once. */
const HARDENED: [name: string, value: string][] = [];
const noting = {
  setHeader: (name: string, value: string) => HARDENED.push([name, value]),
  removeHeader: () => undefined,
} as unknown as ServerResponse; // Helmet calls nothing else of it
harden({} as IncomingMessage, noting, () => undefined);
