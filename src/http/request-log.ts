import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { requestId } from "./answer-headers";

/** Writes a line in the log for each request. */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const began = performance.now();
    // The path without its query, which may hold a signature. Kept now: a router may cut it.
    const path = req.url.split("?", 1)[0];
    res.on("finish", () => {
      const milliseconds = performance.now() - began;
      const { statusCode: status } = res;
      logger.info({ requestId: requestId(res), method: req.method, path, status, milliseconds }, "request");
    });
    next();
  };
}
