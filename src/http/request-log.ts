import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { requestId } from "./answers/answer-headers";

/** Logs each request. */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    // Without the query, which may contain a signature. Saved now, because routers shorten `req.url`.
    const path = req.url.split("?", 1)[0];
    res.on("finish", () => {
      const milliseconds = performance.now() - startedAt;
      const { statusCode: status } = res;
      logger.info({ requestId: requestId(res), method: req.method, path, status, milliseconds }, "request");
    });
    next();
  };
}
