import type { RequestHandler } from "express";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { clockDifference } from "../../platform/clock";
import { EVENT_NAMES, type EventName } from "../../platform/database/tables/event-names";
import type { PoolUse, WorkReports } from "../../platform/ports/work-reports";
import type { EndedRequest } from "../../platform/providers/observed-model";
import { ownVersion } from "../../platform/version";
import { DatabaseGauges, type DatabaseSource } from "./database-gauges";
import { addEventLoopGauge } from "./event-loop-gauge";
import { PoolGauges } from "./pool-gauges";
import { ReplicaMetrics } from "./replica-metrics";
import { RequestMetrics } from "./request-metrics";

/** For measures of prom-client that are not used; see `addEventLoopGauge`. */
const NEVER_MS = 2 ** 31 - 1;
const UNUSED = ["min", "max", "mean", "stddev", "p50", "p90", "p99"].map(
  (part) => `nodejs_eventloop_lag_${part}_seconds`,
);

type ReadinessCheck = () => Promise<{ readonly ready: boolean; readonly databaseAnswers: boolean }>;

/** Prometheus metrics: of the process, its requests and its work; at a scrape also of the database. */
export class Metrics implements WorkReports {
  private readonly registry = new Registry();

  /** Measures the duration of a request. */
  readonly time = new RequestMetrics(this.registry).time;

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

  private readonly periodicFailures = new Counter({
    name: "parley_periodic_failures_total",
    help: "Failed runs of periodic tasks, by task. They run again.",
    labelNames: ["task"],
    registers: [this.registry],
  });

  private readonly answers = new Counter({
    name: "parley_model_answers_total",
    help: "Requests to models by identifier (model), name at the server (model_name), purpose (answer, quick_replies, embedding) and outcome: ok, unreachable, timeout, key_refused, unknown_model, limited, tools_refused (the answer was then requested without functions), refused, unusable, failed, or internal (the service failed).",
    labelNames: ["model", "model_name", "purpose", "outcome"],
    registers: [this.registry],
  });

  private readonly modelDurations = new Histogram({
    name: "parley_model_request_duration_seconds",
    help: "Time of requests to models until the end of the answer, in seconds, by provider (custom: an address that an organization set; local: the built-in model) and outcome: ok, canceled, internal, or a kind of failure as in parley_model_answers_total. Counts retries.",
    labelNames: ["provider", "outcome"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120],
    registers: [this.registry],
  });

  private readonly firstParts = new Histogram({
    name: "parley_model_first_part_seconds",
    help: "Time of requests to models until the first part of the answer, in seconds, by provider.",
    labelNames: ["provider"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30],
    registers: [this.registry],
  });

  private readonly attempts = new Counter({
    name: "parley_delivery_attempts_total",
    help: "Attempts to deliver webhooks by outcome: delivered, refused (a status other than 2xx), timeout, or unreachable.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  private readonly mismatches = new Counter({
    name: "parley_event_mismatches_total",
    help: "Recorded events whose payload did not match its schema, by event.",
    labelNames: ["event"],
    registers: [this.registry],
  });

  private readonly firstAttempts = new Histogram({
    name: "parley_delivery_first_attempt_delay_seconds",
    help: "Time from the recording of an event to the end of the first attempt to deliver it, in seconds.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800],
    registers: [this.registry],
  });

  /** Metrics of the read replica. */
  readonly replica = new ReplicaMetrics(this.registry);
  private readonly pools = new PoolGauges(this.registry);
  private readonly ready = new Gauge({
    name: "parley_server_ready",
    help: "1 if the server can answer requests, as /health/ready says, else 0.",
    registers: [this.registry],
  });
  private readonly databaseUp = new Gauge({
    name: "parley_database_up",
    help: "1 if the database answered this server within 2 s, 0 if it did not, or if all connections were busy.",
    registers: [this.registry],
  });
  private readiness: ReadinessCheck | undefined;
  private databaseGauges: DatabaseGauges | undefined;

  private readonly sockets = new Counter({
    name: "parley_websockets_given_up_total",
    help: "WebSockets and event streams that were closed or refused: slow (the client read too slowly) or limited (rate limit).",
    labelNames: ["reason"],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of UNUSED) this.registry.removeSingleMetric(name);
    addEventLoopGauge(this.registry);
    new Gauge({
      name: "parley_clock_difference_seconds",
      help: "Lead of the server's clock over the database's, in seconds; negative if it is behind.",
      registers: [this.registry],
      collect() {
        this.set(clockDifference() / 1_000);
      },
    });
    new Gauge({
      name: "parley_info",
      help: "Always 1; its label is the version of Parley that this server runs.",
      labelNames: ["version"],
      registers: [this.registry],
    }).set({ version: ownVersion() }, 1);
    for (const event of EVENT_NAMES) this.mismatches.inc({ event }, 0);
    for (const reason of ["slow", "limited"]) this.sockets.inc({ reason }, 0);
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

  /** An alert on an increase would miss a count that begins at 1. */
  readonly nameTasks: WorkReports["nameTasks"] = (tasks, periodic) => {
    for (const task of tasks) this.givenUp.inc({ task }, 0);
    for (const task of periodic) this.periodicFailures.inc({ task }, 0);
  };

  readonly countGivenUp: WorkReports["countGivenUp"] = (task) => this.givenUp.inc({ task });

  readonly countPeriodicFailure: WorkReports["countPeriodicFailure"] = (task) =>
    this.periodicFailures.inc({ task });

  countAnswer({
    modelName,
    ...labels
  }: Readonly<Record<"model" | "modelName" | "purpose" | "outcome", string>>): void {
    this.answers.inc({ ...labels, model_name: modelName });
  }

  observeModel({ provider, outcome, seconds, firstPartSeconds }: EndedRequest): void {
    this.modelDurations.observe({ provider, outcome }, seconds);
    if (firstPartSeconds !== undefined) this.firstParts.observe({ provider }, firstPartSeconds);
  }

  readonly countAttempt: WorkReports["countAttempt"] = (outcome, firstDelaySeconds) => {
    this.attempts.inc({ outcome });
    if (firstDelaySeconds !== undefined) this.firstAttempts.observe(firstDelaySeconds);
  };

  countMismatch(event: EventName): void {
    this.mismatches.inc({ event });
  }

  readonly watchPool: WorkReports["watchPool"] = (name, use) => this.pools.watch(name, use);

  /** Adds gauges of what the database contains. @param use use of the connections of requests */
  watchDatabase(database: DatabaseSource, use: () => PoolUse): void {
    this.watchPool("requests", use);
    this.databaseGauges = new DatabaseGauges(this.registry, database);
  }

  /** @param readiness checked at each scrape; never rejects */
  watchReadiness(readiness: ReadinessCheck): void {
    this.readiness = readiness;
  }

  countSocket(reason: "slow" | "limited"): void {
    this.sockets.inc({ reason });
  }

  readonly page: RequestHandler = async (_req, res) => {
    const refreshed = [this.databaseGauges?.refresh(), this.replica.refresh()];
    const [readiness] = await Promise.all([this.readiness?.(), ...refreshed]);
    this.ready.set(readiness?.ready ? 1 : 0);
    this.databaseUp.set(readiness?.databaseAnswers ? 1 : 0);
    res.type(this.registry.contentType).send(await this.registry.metrics());
  };
}
