import type { ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import helmet from "helmet";
import { newId } from "../../platform/database/values/ids";

/** The request id, which appears in the response headers, error bodies and the log. */
export const requestId = (res: ServerResponse): string => String(res.getHeader("X-Request-Id"));

/** Assigns a request id. */
export const identify: RequestHandler = (_req, res, next) => {
  res.setHeader("X-Request-Id", newId());
  next();
};

/** Security headers for data: responses must not be executed, framed or sniffed. Pages set their own policy. */
export const harden = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: "cross-origin" },
  strictTransportSecurity: false,
});

/** Lets pages of any origin call both interfaces, without cookies (CORS). */
export const allowAnyOrigin: RequestHandler = (req, res, next) => {
  if (/^\/(rest|graphql|mcp)(\/|\?|$)/.test(req.url)) {
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader("Access-Control-Allow-Headers", ALLOWED);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
    if (req.method === "OPTIONS") res.setHeader("Access-Control-Max-Age", PREFLIGHT_MAX_AGE_S);
  }
  next();
};

/** Headers of the two interfaces, and those that Apollo Client and tracing libraries add. */
const ALLOWED = [
  ...["X-API-Key", "Authorization", "Content-Type", "Idempotency-Key", "X-Public-Key", "X-Public-Token"],
  ...["If-Match", "If-None-Match"],
  ...["Apollo-Require-Preflight", "X-Apollo-Operation-Name"],
  ...["apollographql-client-name", "apollographql-client-version"],
  "Mcp-Protocol-Version",
  ...["X-Request-Id", "traceparent", "tracestate", "baggage"],
].join(", ");
/** Time that a browser may keep the answer to a preflight, in seconds; Chromium keeps it for 7,200 s at most. */
const PREFLIGHT_MAX_AGE_S = 86_400;
const EXPOSED =
  "X-Request-Id, ETag, GraphQL-Cost, GraphQL-Operation, Idempotency-Replayed, Link, RateLimit, RateLimit-Policy, Retry-After, Warning";
