import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { requestId } from "./common";

/** A line in the log for each request. */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const began = process.hrtime.bigint();
    res.on("finish", () => {
      const milliseconds = Number(process.hrtime.bigint() - began) / 1e6;
      // The path without its query, which may hold a signature.
      logger.info(
        {
          requestId: requestId(res),
          method: req.method,
          path: req.originalUrl.split("?", 1)[0],
          status: res.statusCode,
          milliseconds,
        },
        "request",
      );
    });
    next();
  };
}
