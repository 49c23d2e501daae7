import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler, Response } from "express";
import helmet from "helmet";
import { newId } from "../database/ids";

/** The id that the answer, its error body and the log share. */
export const requestId = (res: Response): string => (res.locals.requestId ??= newId()) as string;

/** Headers of every answer: its id, and what any origin may read of it without cookies. */
export const common: RequestHandler = (req, res, next) => {
  res.setHeader("X-Request-Id", requestId(res));
  if (/^\/(rest|graphql)(\/|\?|$)/.test(req.url)) {
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader("Access-Control-Allow-Headers", "X-API-Key, Authorization, Content-Type, Idempotency-Key");
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
  }
  next();
};

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
const HARDENED = new Map<string, string>();
const noting = {
  setHeader: (name: string, value: string) => HARDENED.set(name, value),
  removeHeader: () => undefined,
} as unknown as ServerResponse; // Helmet calls nothing else of it
harden({} as IncomingMessage, noting, () => undefined);

export const hardened: RequestHandler = (_req, res, next) => {
  for (const [name, value] of HARDENED) res.setHeader(name, value);
  next();
};
