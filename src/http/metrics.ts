import type { RequestHandler } from "express";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

/** Interval at which the delay of the event loop is measured: each time wakes an idle process. */
const LAG_INTERVAL_MS = 200;

/** Prometheus metrics: process metrics and request durations. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: "parley_http_request_duration_seconds",
    help: "Time from the request's headers to the end of the response, in seconds.",
    labelNames: ["operation", "method", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });
  private readonly seriesByLabels = new Map<string, Histogram.Internal<string>>();

  private readonly callbacks = new Counter({
    name: "parley_engine_callbacks_total",
    help: "Voice engine callbacks by outcome: applied, repeated, ignored, refused (no live call), or limited (rate limit).",
    labelNames: ["type", "outcome"],
    registers: [this.registry],
  });

  private readonly sms = new Counter({
    name: "parley_sms_received_total",
    help: "Received SMS by outcome: accepted, own-number (sent from a connected number), refused (invalid signature), or limited (rate limit).",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  private readonly smsStatus = new Counter({
    name: "parley_sms_status_total",
    help: "SMS delivery reports by outcome: applied, repeated, or refused (invalid signature).",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  private readonly givenUp = new Counter({
    name: "parley_jobs_given_up_total",
    help: "Jobs that failed permanently after all attempts, by task.",
    labelNames: ["task"],
    registers: [this.registry],
  });

  private readonly answers = new Counter({
    name: "parley_model_answers_total",
    help: "Requests to models by identifier (model), name at the server (model_name), purpose (answer, quick_replies, embedding) and outcome: ok, unreachable, timeout, key_refused, unknown_model, limited, tools_refused (the answer was then requested without functions), refused, unusable, failed, or internal (the service failed).",
    labelNames: ["model", "model_name", "purpose", "outcome"],
    registers: [this.registry],
  });

  private readonly sockets = new Counter({
    name: "parley_websockets_given_up_total",
    help: "WebSockets that were closed or refused: slow (the client read too slowly) or limited (rate limit).",
    labelNames: ["reason"],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS });
  }

  /** Measures the duration of a request. REST responses name the operation in a header. */
  readonly time: RequestHandler = ({ url, method }, res, next) => {
    const startedAt = performance.now();
    const defaultOperation = /^\/graphql(\?|$)/.test(url) ? "graphql" : "other";
    res.on("finish", () => {
      const operation = String(res.getHeader("GraphQL-Operation") ?? defaultOperation);
      this.series(operation, method, res.statusCode).observe((performance.now() - startedAt) / 1000);
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

  /** @param type type of the engine's message; `other` for unknown types */
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

  countAnswer({
    modelName,
    ...labels
  }: Readonly<Record<"model" | "modelName" | "purpose" | "outcome", string>>): void {
    this.answers.inc({ ...labels, model_name: modelName });
  }

  countSocket(reason: "slow" | "limited"): void {
    this.sockets.inc({ reason });
  }

  readonly page: RequestHandler = async (_req, res) => {
    res.type(this.registry.contentType).send(await this.registry.metrics());
  };
}
