import type { RequestHandler } from "express";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

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
  private readonly known = new Map<string, Histogram.Internal<string>>();

  private readonly callbacks = new Counter({
    name: "parley_engine_callbacks_total",
    help: "Callbacks of the voice engine: applied, repeated, ignored, refused as they belong to no live call, or limited as too many came.",
    labelNames: ["type", "outcome"],
    registers: [this.registry],
  });

  private readonly sms = new Counter({
    name: "parley_sms_received_total",
    help: "SMS that came in: accepted, from a number of ours, refused for their signature, or limited as too many came.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  private readonly smsStatus = new Counter({
    name: "parley_sms_status_total",
    help: "Reports of how SMS were delivered: applied, repeated, or refused for their signature.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  private readonly givenUp = new Counter({
    name: "parley_jobs_given_up_total",
    help: "Jobs that were given up after all attempts, by task.",
    labelNames: ["task"],
    registers: [this.registry],
  });

  private readonly sockets = new Counter({
    name: "parley_websockets_given_up_total",
    help: "WebSockets that were closed or not opened: slow as the client read too slowly, limited as it asked for too much.",
    labelNames: ["reason"],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Times a request. The REST face names the operation in a header of its answers. */
  readonly time: RequestHandler = ({ url, method }, res, next) => {
    const began = performance.now();
    const place = /^\/graphql(\?|$)/.test(url) ? "graphql" : "other";
    res.on("finish", () => {
      const operation = String(res.getHeader("GraphQL-Operation") ?? place);
      this.series(operation, method, res.statusCode).observe((performance.now() - began) / 1000);
    });
    next();
  };

  /** One line of the histogram: to find it by its labels costs more than to count in it. */
  private series(operation: string, method: string, status: number): Histogram.Internal<string> {
    const key = `${operation} ${method} ${status}`;
    const series = this.known.get(key) ?? this.durations.labels(operation, method, String(status));
    this.known.set(key, series);
    return series;
  }

  /** @param type what the engine told of; `other` for all that is not known */
  countCallback(type: string, outcome: string): void {
    this.callbacks.inc({ type, outcome });
  }

  countSms(outcome: string): void {
    this.sms.inc({ outcome });
  }

  countSmsStatus(outcome: string): void {
    this.smsStatus.inc({ outcome });
  }

  countGivenUp(task: string): void {
    this.givenUp.inc({ task });
  }

  countSocket(reason: "slow" | "limited"): void {
    this.sockets.inc({ reason });
  }

  readonly page: RequestHandler = async (_req, res) => {
    res.type(this.registry.contentType).send(await this.registry.metrics());
  };
}
