import type { RequestHandler } from "express";
import { Counter, Histogram, type Registry } from "prom-client";
import { operationOf } from "../answers/operation-name";
import { failureOf, SERVER_FAILURES } from "../errors/reported-errors";

/** Methods that are named. Node accepts some 30 others, each of which would make series. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Metrics of requests: how long they take, and failures that their status does not show. */
export class RequestMetrics {
  private readonly durations: Histogram;
  private readonly failures: Counter;
  private readonly seriesByLabels = new Map<string, Histogram.Internal<string>>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.durations = new Histogram({
      name: "parley_http_request_duration_seconds",
      help: "Time from the request's headers to the end of the response, in seconds.",
      labelNames: ["operation", "method", "status"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.failures = new Counter({
      name: "parley_graphql_failures_total",
      help: "Responses of GraphQL and MCP with a status below 500 that contain an error of the server, by its code, such as INTERNAL or UNAVAILABLE. Excludes subscriptions.",
      labelNames: ["code"],
      registers,
    });
    for (const code of SERVER_FAILURES) this.failures.inc({ code }, 0);
  }

  /** Measures the duration of a request. */
  readonly time: RequestHandler = ({ url, method }, res, next) => {
    const startedAt = performance.now();
    res.on("finish", () => {
      if (String(res.getHeader("Content-Type")).startsWith("text/event-stream")) return; // open for hours
      const operation = operationOf(res, url);
      const known = METHODS.has(method) ? method : "other";
      this.series(operation, known, res.statusCode).observe((performance.now() - startedAt) / 1000);
      const code = res.statusCode < 500 ? failureOf(res) : undefined;
      if (code) this.failures.inc({ code });
    });
    next();
  };

  /** One series of the histogram, cached: the lookup by labels costs more than an observation. */
  private series(operation: string, method: string, status: number): Histogram.Internal<string> {
    const key = `${operation} ${method} ${status}`;
    const series = this.seriesByLabels.get(key) ?? this.durations.labels(operation, method, String(status));
    this.seriesByLabels.set(key, series);
    return series;
  }
}
