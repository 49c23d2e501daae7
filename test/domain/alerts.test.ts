import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, test } from "@jest/globals";
import { stringify } from "yaml";
import { isInstalled } from "../support/snippet-checkers";

/** Values of a series each minute, in the notation of promtool, by the series of server b. */
type Values = Readonly<Record<string, string>>;

const ANSWERS = 'parley_model_answers_total{model="M", purpose="answer", outcome="ok"}';
const FAILURES = 'parley_model_answers_total{model="M", purpose="answer", outcome="timeout"}';
const REQUESTS = 'parley_http_request_duration_seconds_count{operation="Chat", status="200"}';
const GRAPHQL = 'parley_graphql_failures_total{code="UNAVAILABLE"}';
const DELIVERED = 'parley_delivery_attempts_total{outcome="delivered"}';
const GIVEN_UP = 'parley_jobs_given_up_total{task="chat.turn"}';
const MISMATCHES = 'parley_event_mismatches_total{event="session-end"}';
const PERIODIC = 'parley_periodic_failures_total{task="chat.endIdle"}';
const WAITS = 'parley_database_connections_waiting{pool="requests"}';
const LOOP = 'parley_event_loop_delay_seconds{quantile="0.99"}';
const FIRST_PARTS = (le: string) => `parley_model_first_part_seconds_bucket{provider="P", le="${le}"}`;
const OLDEST = (task: string) => `parley_jobs_oldest_waiting_seconds{task="${task}"}`;
const SEQUENCER = "parley_events_oldest_unsequenced_seconds";

const COUNTS = [REQUESTS, ANSWERS, DELIVERED, ...["1", "10", "30", "+Inf"].map(FIRST_PARTS)];
const every = (series: readonly string[], values: string): Values =>
  Object.fromEntries(series.map((one) => [one, values]));

/** Two hours of a busy server without problems. */
const USUAL: Values = {
  ...every(["up", "parley_database_up", "parley_server_ready"], "1x120"),
  ...every(
    [GRAPHQL, MISMATCHES, GIVEN_UP, PERIODIC, WAITS, "parley_held", "parley_clock_difference_seconds"],
    "0x120",
  ),
  ...every(["parley_events_unsequenced", "parley_delivery_oldest_due_seconds"], "0x120"),
  ...every(COUNTS, "100+10x120"),
  [LOOP]: "0.03x120",
  [SEQUENCER]: "59x120",
  process_start_time_seconds: "-86400x120",
};
const GONE = every(Object.keys(USUAL), "_x120");
const QUEUES = ["parley_events_unsequenced", "parley_delivery_oldest_due_seconds", SEQUENCER];

const SLOW = { ...every(["1", "10"].map(FIRST_PARTS), "100x120"), [ANSWERS]: "100+10x120" };
const AWAY = { parley_database_up: "0x120", parley_server_ready: "0x120", ...every(QUEUES, "_x120") };

/** Reports of server b in the second hour, while server a has no problem, with the alerts that fire. */
const PROBLEMS: readonly (readonly [name: string, values: Values, alerts: readonly string[]])[] = [
  ["does not answer", { ...GONE, up: "0x120" }, ["ParleyServerDown"]],
  ["has lost the database", AWAY, ["ParleyDatabaseDown"]],
  ["is not ready", { parley_server_ready: "0x120" }, ["ParleyNotReady"]],
  ["is held for an hour", { parley_held: "1x120" }, ["ParleyHeld"]],
  ["has a clock that is behind", { parley_clock_difference_seconds: "-45x120" }, ["ParleyClockOff"]],
  ["answers with errors in GraphQL", { [GRAPHQL]: "0+5x120" }, ["ParleyServerErrors"]],
  ["answers with 500", { [REQUESTS.replace("200", "500")]: "5+5x120" }, ["ParleyServerErrors"]],
  ["sees a turn wait", { [OLDEST("chat.turn")]: "45+60x120" }, ["ParleyPeopleWait", "ParleyJobsLate"]],
  ["sees a slow job wait", { [OLDEST("file.index")]: "1900x120" }, ["ParleyJobsLate"]],
  ["sends an event that does not match", { [MISMATCHES]: "0x50 1x70" }, ["ParleyEventMismatch"]],
  ["gives a job up", { [GIVEN_UP]: "0x50 1x70" }, ["ParleyJobGivenUp"]],
  [
    "starts by giving up the job that has killed it",
    { ...every(Object.keys(USUAL), "_x55 1x65"), ...GIVES_UP_AT_START() },
    ["ParleyJobGivenUp"],
  ],
  ["fails in a periodic task", { [PERIODIC]: "0+1x120" }, ["ParleyPeriodicTaskFails"]],
  ["delivers late", { parley_delivery_oldest_due_seconds: "180x120" }, ["ParleyDeliveriesLate"]],
  ["fails to deliver", { [DELIVERED.replace("delivered", "timeout")]: "0+30x120" }, ["ParleyDeliveriesFail"]],
  ["does not sequence", { [SEQUENCER]: "200+60x120" }, ["ParleyEventsUnsequenced"]],
  ["has no connection left", { [WAITS]: "5x120" }, ["ParleyConnectionsExhausted"]],
  ["blocks its event loop", { [LOOP]: "0.4x120" }, ["ParleyEventLoopDelayed"]],
  ["gets no answer of a model for the first time", { [FAILURES]: "_x55 1x65" }, ["ParleyModelFails"]],
  [
    "gets no answer of a model any more",
    { [FAILURES]: "0+30x120", [ANSWERS]: "100x120" },
    ["ParleyModelFails", "ParleyModelDown"],
  ],
  ["waits for the answers of a model", SLOW, ["ParleyModelSlow"]],
];

/** The process has begun at minute 55, at once with a job that it gives up. */
function GIVES_UP_AT_START(): Values {
  return {
    ...every(["parley_clock_difference_seconds", MISMATCHES, PERIODIC, WAITS, LOOP], "_x55 0x65"),
    ...every(["parley_delivery_oldest_due_seconds", SEQUENCER], "_x55 0x65"),
    [GIVEN_UP]: "_x55 1x65",
    process_start_time_seconds: "_x55 3290x65",
  };
}

/** Reports of both servers without a problem. */
const IN_ORDER: readonly (readonly [name: string, values: Values])[] = [
  ["busy", {}],
  ["idle for a night", every(COUNTS, "100x120")],
  [
    "restarted, with counts that begin again",
    {
      ...every(["up"], "1x57 0 1x62"),
      ...every(COUNTS, "500+10x56 _ 0+10x62"),
      ...every([FAILURES, GIVEN_UP, MISMATCHES], "3x56 _ 0x62"),
      process_start_time_seconds: "-86400x56 _ 3470x62",
    },
  ],
  [
    "known to Prometheus again after an outage of Prometheus, with old failures",
    { ...every(Object.keys(USUAL), "_x55 1x65"), ...QUIET_AFTER_GAP() },
  ],
  [
    "short of a database for a minute",
    { parley_database_up: "1x58 0 1x61", parley_server_ready: "1x58 0 1x61", [WAITS]: "0x58 9 0x61" },
  ],
  [
    "failing in one request",
    { [REQUESTS.replace("200", "500")]: "_x57 1x63", ...every(COUNTS, "0+0.02x120") },
  ],
  ["failing in a few requests of GraphQL", { [GRAPHQL]: "0+0.05x120" }],
];

function QUIET_AFTER_GAP(): Values {
  return {
    ...every(["parley_clock_difference_seconds", WAITS, LOOP, SEQUENCER], "_x55 0x65"),
    ...every([FAILURES, GIVEN_UP, MISMATCHES, PERIODIC], "_x55 9x65"),
    process_start_time_seconds: "_x55 -86400x65",
  };
}

const folder = mkdtempSync(join(tmpdir(), "parley-alerts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const seriesOf = (instance: string, values: Values) =>
  Object.entries({ ...USUAL, ...values }).map(([series, samples]) => {
    const [, name, labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series)!;
    return {
      series: `${name}{job="parley", instance="${instance}"${labels && `, ${labels}`}}`,
      values: samples,
    };
  });

/** Fails with the alerts that fire at minute 61 unless they are the given ones. */
async function check(a: Values, b: Values, alerts: readonly string[]): Promise<void> {
  const file = join(folder, "test.yml");
  const firing = 'count by (alertname) (ALERTS{alertstate="firing"} * 0 + 1)';
  const exp_samples = alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
  const group = {
    interval: "1m",
    input_series: [...seriesOf("a", a), ...seriesOf("b", b)],
    promql_expr_test: [{ expr: `max by (alertname) (${firing} > bool 0)`, eval_time: "61m", exp_samples }],
  };
  const rules = resolve("deploy/prometheus/alerts.yml");
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: "1m", tests: [group] }));
  await promisify(execFile)("promtool", ["test", "rules", file]).catch((error: unknown) => {
    throw new Error((error as { stderr: string }).stderr);
  });
}

describe("the alert rules", () => {
  if (!isInstalled("promtool")) return test.todo("pass promtool, which is not installed");

  test.each(PROBLEMS)("fire if a server of two %s", (_name, values, alerts) => check({}, values, alerts));

  test.each(IN_ORDER)("are silent about servers that are %s", (_name, values) => check(values, values, []));

  test("say that Prometheus knows no server", () => check(GONE, GONE, ["ParleyNoServer"]));

  test("say that no server can read the queues", () => {
    const unread = every(QUEUES, "_x120");
    return check(unread, unread, ["ParleyQueuesUnknown"]);
  });
});
