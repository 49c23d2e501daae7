import type { RequestHandler } from "express";
import { tracing } from "../platform/tracing/tracing";
import { requestId } from "./answers/answer-headers";

/** Runs each request in a span, which continues the trace of the client. Paths are left out: they may contain ids of people. */
export const traceRequests: RequestHandler = ({ url, method, headers }, res, next) => {
  const { tracer } = tracing;
  if (!tracer) return next();
  const span = tracer.request(headers);
  const defaultOperation = /^\/graphql(\?|$)/.test(url) ? "graphql" : "other";
  res.on("close", () => {
    const { statusCode } = res;
    span.set({
      "http.request.method": method,
      "http.response.status_code": statusCode,
      "parley.request.id": requestId(res),
    });
    if (statusCode >= 500) span.fail(String(statusCode));
    span.end(`${method} ${String(res.getHeader("GraphQL-Operation") ?? defaultOperation)}`);
  });
  span.run(next);
};
