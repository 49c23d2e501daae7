import type { RequestHandler } from "express";
import { tracing } from "../platform/tracing/tracing";
import { requestId } from "./answers/answer-headers";
import { isProbe, operationOf, routeOf } from "./answers/operation-name";

/**
 * Runs each request in a span, which continues the trace of the client. Paths are left out: they may contain ids of
 * people. Health checks and scrapes have no traces: there are more of them than of anything else on a quiet server.
 */
export const traceRequests: RequestHandler = ({ url, method, headers }, res, next) => {
  const { tracer } = tracing;
  if (!tracer || isProbe(url)) return next();
  const span = tracer.request(headers);
  res.on("close", () => {
    const { statusCode } = res;
    span.set({
      "http.request.method": method,
      "http.route": routeOf(res, url),
      "http.response.status_code": statusCode,
      "parley.request.id": requestId(res),
    });
    if (statusCode >= 500) span.fail(String(statusCode));
    span.end(`${method} ${operationOf(res, url)}`);
  });
  span.run(next);
};
