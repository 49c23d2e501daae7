import type { RequestHandler } from "express";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** What Prometheus may ask: the process's own figures, and how long requests took. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: "parley_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer.",
    labelNames: ["operation", "method", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Times every request. The REST face names the operation in a header of its answers. */
  readonly timing: RequestHandler = (req, res, next) => {
    const end = this.durations.startTimer();
    res.on("finish", () => {
      const operation = String(
        res.getHeader("GraphQL-Operation") ?? (req.path === "/graphql" ? "graphql" : "other"),
      );
      end({ operation, method: req.method, status: res.statusCode });
    });
    next();
  };

  readonly page: RequestHandler = async (_req, res) => {
    res.type(this.registry.contentType).send(await this.registry.metrics());
  };
}
