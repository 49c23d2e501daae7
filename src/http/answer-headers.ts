import type { ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import helmet from "helmet";
import { newId } from "../platform/database/ids";

/** The id that the answer, its error body and the log share. */
export const requestId = (res: ServerResponse): string => String(res.getHeader("X-Request-Id"));

/** Gives a request its id. */
export const identify: RequestHandler = (_req, res, next) => {
  res.setHeader("X-Request-Id", newId());
  next();
};

/** Answers are data: nothing in them is to be run, framed or guessed at. Pages set a policy of their own. */
export const harden = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: "cross-origin" },
  strictTransportSecurity: false,
});

/** Lets pages of any origin call both interfaces, without cookies. */
export const allowAnyOrigin: RequestHandler = (req, res, next) => {
  if (/^\/(rest|graphql)(\/|\?|$)/.test(req.url)) {
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader(
      "Access-Control-Allow-Headers",
      "X-API-Key, Authorization, Content-Type, Idempotency-Key, X-Public-Key, X-Public-Token",
    );
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
  }
  next();
};

const EXPOSED =
  "X-Request-Id, GraphQL-Operation, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, Warning";
