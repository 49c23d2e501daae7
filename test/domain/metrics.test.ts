import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { Registry } from "prom-client";
import { parse } from "yaml";
import { DatabaseGauges } from "../../src/http/metrics/database-gauges";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, speaker } from "../support/calls";
import { newAssistant } from "../support/factories";
import { samplesOf, valueOf, type Sample } from "../support/metrics";
import { groupings, syntaxError } from "../support/promql";
import { Receiver } from "../support/receiver";
import { connect, newPerson, text } from "../support/sms";
import { talk } from "../support/talk";
import { until } from "../support/until";

const running = useApp({ ...FAST, OUTBOUND_ALLOW: "127.0.0.0/8" });

/** Interval at which the delay of the event loop is measured. */
const MEASURED_EACH_MS = 200;

describe("after a conversation, a delivery that fails and a job that waits, /metrics shows", () => {
  let samples: Sample[];
  const value = (name: string, labels?: Readonly<Record<string, string>>) => valueOf(samples, name, labels);
  let organizationId: string;
  const receiver = new Receiver((res) => void res.writeHead(500).end());
  afterAll(() => receiver.stop());

  beforeAll(async () => {
    await receiver.start();
    await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "secret" }, 201);
    const replies = [{ text: ["Good day."] }, { status: 401 }];
    const { model, say, answered } = await talk(running, replies, { configuration: { model: "GPT_4_O" } });
    await say("Hello.");
    await say("Are you there?");
    await answered();
    await model.stop();
    await receiver.until(1);
    const failed = "select from deliveries where attempts <> '[]'";
    await until(async () => (await running.database.query(failed)).length > 0);
    const job = "select graphile_worker.add_job('test.unknown', run_at => now() - interval '1 minute')";
    await running.database.query(job);
    await running.api.request("POST", "/rest/v1/webhooks/vapi/server-messages", {
      message: { type: "hang" },
    });
    const caller = await speaker(running.api);
    for (const number of [NUMBER.endless, NUMBER.endless]) await place(running.api, caller, number);
    await ended(running.api, await place(running.api, caller, NUMBER.refused));
    const line = await connect(running, [await newAssistant(running.api)]);
    for (let person = 0; person < 3; person++) await text(running, line, newPerson(), "Hello.");
    organizationId = (await running.api.gql("{ organization { id } }")).organization.id as string;
    samples = samplesOf((await running.api.request("GET", "/metrics")).text);
  });

  test("requests to models by provider and outcome, with their latency", () => {
    const name = "parley_model_request_duration_seconds_count";
    expect(value(name, { provider: "custom", outcome: "ok" })).toBeGreaterThanOrEqual(1);
    expect(value(name, { provider: "custom", outcome: "key_refused" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_model_first_part_seconds_count", { provider: "custom" })).toBeGreaterThanOrEqual(1);
  });

  test("attempts of deliveries by outcome, and the delay of the first one", () => {
    expect(value("parley_delivery_attempts_total", { outcome: "refused" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_delivery_attempts_total", { outcome: "delivered" })).toBeUndefined();
    expect(value("parley_delivery_first_attempt_delay_seconds_count")).toBeGreaterThanOrEqual(1);
    expect(value("parley_delivery_first_attempt_delay_seconds_bucket", { le: "60" })).toBeGreaterThanOrEqual(
      1,
    );
  });

  test("the waiting job with its age", () => {
    expect(value("parley_jobs_waiting", { task: "test.unknown" })).toBe(1);
    expect(value("parley_jobs_oldest_waiting_seconds", { task: "test.unknown" })).toBeGreaterThanOrEqual(60);
  });

  test("deliveries that are due and events without a position", () => {
    for (const name of ["delivery_queues_due", "delivery_destinations_due", "delivery_oldest_due_seconds"])
      expect(value(`parley_${name}`)).toBeGreaterThanOrEqual(0);
    expect(value("parley_events_unsequenced")).toBeGreaterThanOrEqual(0);
    expect(value("parley_events_oldest_unsequenced_seconds")).toBeGreaterThanOrEqual(0);
  });

  test("live conversations by channel, and the events of the busiest organizations", () => {
    // Of three calls one has ended; three people text.
    const live = ["TEXT", "VOICE", "SMS"].map((channel) => value("parley_live_conversations", { channel }));
    expect(live).toEqual([1, 2, 3]);
    expect(value("parley_organization_events_per_second", { organization: organizationId })).toBeGreaterThan(
      0,
    );
  });

  test("methods that nobody uses as one, so that strangers cannot make series", async () => {
    for (const method of ["PROPFIND", "MKCOL"]) await running.api.request(method, "/nowhere");
    const { text } = await running.api.request("GET", "/metrics");
    const requests = samplesOf(text).filter(
      ({ name }) => name === "parley_http_request_duration_seconds_count",
    );
    const methods = new Set(requests.map(({ labels }) => labels.method));
    expect([...methods].filter((method) => /^(PROPFIND|MKCOL|other)$/.test(method!))).toEqual(["other"]);
  });

  test("the use of every connection pool", () => {
    for (const pool of ["requests", "jobs", "deliveries", "worker"]) {
      const used = value("parley_database_connections", { pool, state: "used" })!;
      expect(used + value("parley_database_connections", { pool, state: "idle" })!).toBeGreaterThanOrEqual(1);
      expect(used).toBeLessThanOrEqual(value("parley_database_connections_max", { pool })!);
      expect(value("parley_database_connections_waiting", { pool })).toBe(0);
    }
    expect(value("parley_database_up")).toBe(1);
  });

  test("health checks and scrapes as probes, which do not hide what people request", async () => {
    for (const path of ["/health/live", "/health/ready", "/metrics"]) await running.api.request("GET", path);
    const { text } = await running.api.request("GET", "/metrics");
    const name = "parley_http_request_duration_seconds_count";
    expect(valueOf(samplesOf(text), name, { operation: "probe", status: "200" })).toBeGreaterThanOrEqual(3);
  });

  test("whether the server is ready and held, and its version", () => {
    expect(value("parley_server_ready")).toBe(1);
    expect(value("parley_held")).toBe(0);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(value("parley_info", { version })).toBe(1);
  });

  test("no reads of a replica, and no lag, without one", () => {
    for (const database of ["replica", "primary"])
      expect(value("parley_replica_reads_total", { database })).toBe(0);
    expect(value("parley_replica_lag_bytes")).toBeUndefined();
  });

  test("counts of failed jobs that begin at 0, because an alert would miss one that begins at 1", () => {
    expect(value("parley_jobs_given_up_total", { task: "chat.turn" })).toBe(0);
    expect(value("parley_jobs_given_up_total", { task: "webhook.deliver" })).toBe(0);
  });

  test.each(queries())("every metric and label of %s", (_where, expr, shown) => {
    const query = `${expr} ${shown}`;
    const used = metricsIn(query);
    expect(used.length).toBeGreaterThan(0);
    const lackingIn = (name: string, some: readonly string[]) => (name === LAG ? [] : lacking(name, some));
    for (const { name, labels } of used)
      expect({ name, lacks: lackingIn(name, labels) }).toEqual({ name, lacks: [] });
    const anyOf = (label: string) => used.some(({ name }) => lackingIn(name, [label]).length === 0);
    expect(groupedBy(query).filter((label) => !anyOf(label))).toEqual([]);
  });

  test("every metric that the documentation names", async () => {
    const documents = readdirSync("docs").filter((name) => name.endsWith(".md"));
    const named = documents.flatMap((name) => [
      ...readFileSync(`docs/${name}`, "utf8").matchAll(
        /\b(?:parley|process|nodejs)_\w+_(?:seconds|total|bytes|waiting)\b/g,
      ),
    ]);
    const { text } = await running.api.request("GET", "/metrics");
    const known = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(["/METRICS", "/Metrics", "/metrics/", "//metrics"])(
    "not at %s, which a proxy that hides /metrics may let through",
    async (path) => {
      expect((await running.api.request("GET", path)).status).toBe(404);
    },
  );

  /** The labels that no sample of a metric has; Prometheus itself adds some. */
  const lacking = (name: string, labels: readonly string[]): string[] => {
    if (name === "up") return [];
    const known = samples.filter((sample) => sample.name === name);
    if (known.length === 0) return ["the metric"];
    const added = ["instance", "job", "namespace"];
    return labels.filter((label) => !added.includes(label) && !known.some((one) => label in one.labels));
  };

  test("the delay of the event loop, without the interval at which it is measured", () => {
    // A loop that was never blocked for a whole interval, as its median shows
    expect(value("parley_event_loop_delay_seconds", { quantile: "0.5" })).toBeLessThan(0.2);
    expect(value("nodejs_eventloop_lag_p99_seconds")).toBeUndefined();
  });

  test("a time in which the process was busy since the scrape before", async () => {
    await until(async () => {
      await pause(2 * MEASURED_EACH_MS);
      for (const end = performance.now() + 3 * MEASURED_EACH_MS; performance.now() < end;);
      const scraped = samplesOf((await running.api.request("GET", "/metrics")).text);
      return (
        valueOf(scraped, "parley_event_loop_delay_seconds", { quantile: "1" })! > MEASURED_EACH_MS / 1_000
      );
    });
  });
});

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly noValue?: string;
      readonly custom?: { readonly showPoints: string };
    };
  };
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: object;
    }[];
  }[];
}

/** Has no value without a replica, and no labels of its own. */
const LAG = "parley_replica_lag_bytes";

/** The queries of the dashboard and of the alert rules, with their texts, in which labels stand too. */
function queries(): [where: string, query: string, text: string][] {
  const dashboard = JSON.parse(readFileSync("deploy/grafana/parley.json", "utf8")) as { panels: Panel[] };
  const alerts = parse(readFileSync("deploy/prometheus/alerts.yml", "utf8")) as Rules;
  return [
    ...dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }): [string, string, string] => [
        `the panel ${title}`,
        expr.replaceAll("$__rate_interval", "1m"),
        legendFormat,
      ]),
    ),
    ...alerts.groups.flatMap(({ rules }) =>
      rules.map(({ alert, expr, annotations }): [string, string, string] => [
        `the alert ${alert}`,
        expr,
        JSON.stringify(annotations),
      ]),
    ),
  ];
}

/** The metrics that a query names, with the labels that it selects. */
const metricsIn = (query: string) =>
  [...query.matchAll(/\b((?:parley|process|nodejs)_\w+|up)(?:\{([^}]*)\})?/g)].map(
    ([, name, selector = ""]) => ({
      name: name!,
      labels: [...selector.matchAll(/(\w+)(?:=|!)/g)].map(([, label]) => label!),
    }),
  );

/** The labels that a query groups by, or that its text shows. */
const groupedBy = (query: string): string[] => [
  ...[...query.matchAll(/(?:by|ignoring) \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(", ")),
  ...[...query.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label]) => label!),
];

describe("a Prometheus of several installations", () => {
  test.each(queries())("can run the query of %s", (_where, query) => {
    expect(syntaxError(query)).toBeUndefined();
  });

  test.each(queries().filter(([where]) => where.startsWith("the alert")))(
    "does not mix them in %s",
    (_where, query) => {
      for (const labels of groupings(query))
        expect(labels).toEqual(expect.arrayContaining(["namespace", "job"]));
    },
  );

  test.each(queries().filter(([where]) => where.startsWith("the panel")))(
    "shows one of them in %s",
    (_where, query) => {
      for (const { name, labels } of metricsIn(query))
        expect({ name, labels }).toEqual({ name, labels: expect.arrayContaining(["namespace", "job"]) });
    },
  );
});

test("failures of the service itself do not raise the alert about a model, which they do not name", () => {
  const [, query] = queries().find(([where]) => where === "the alert ParleyModelDown")!;
  const selected = [...query.matchAll(/parley_model_answers_total\{([^}]*)\}/g)];
  expect(selected).toHaveLength(2);
  for (const [, labels] of selected) expect(labels).toMatch(/outcome!~"(\w+\|)*internal"/);
});

describe("the dashboard of a service without failures", () => {
  const { panels } = JSON.parse(readFileSync("deploy/grafana/parley.json", "utf8")) as { panels: Panel[] };

  test("has a share of failed requests, which have no count before the first one", () => {
    const [share] = panels.find(({ title }) => title.startsWith("Share of requests"))!.targets!;
    expect(share!.expr).toMatch(/^\(sum\(.*\) or vector\(0\)\) \/ sum\(/);
  });

  test.each([
    "Failed requests per second",
    "Waiting jobs",
    "Oldest waiting job",
    "Failed jobs in 15 minutes",
  ])("says in the panel %s that there is nothing, rather than that data are missing", (name) => {
    const { fieldConfig } = panels.find(({ title }) => title === name)!;
    expect(fieldConfig!.defaults.noValue).toMatch(/^No /);
  });

  test("shows a value that only one scrape had", () => {
    const shown = panels.map(({ fieldConfig }) => fieldConfig?.defaults.custom?.showPoints);
    expect(new Set(shown.filter((one) => one !== undefined))).toEqual(new Set(["auto"]));
  });
});

describe("the panels of the dashboard", () => {
  const { panels } = JSON.parse(readFileSync("deploy/grafana/parley.json", "utf8")) as {
    panels: readonly {
      readonly id: number;
      readonly title: string;
      readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
    }[];
  };

  test("have ids of their own, fit in the width and do not overlap", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true]);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.get(`${x} ${y}`)]).toEqual([title, undefined]);
          taken.set(`${x} ${y}`, title);
        }
    }
  });

  test("and the alert rules show every state that the page on monitoring tells to watch", () => {
    const shown = new Set(queries().flatMap(([, query]) => metricsIn(query).map(({ name }) => name)));
    for (const name of [
      "parley_held",
      "parley_info",
      "parley_replica_lag_bytes",
      "parley_replica_reads_total",
    ])
      expect([name, shown.has(name)]).toEqual([name, true]);
  });
});

test("a query with a mistake is found", () => {
  expect(syntaxError("sum by (job) (up")).toBe("");
  expect(syntaxError("rate(up[5m])) > 0")).toBe(") > 0");
});

describe("readings of the database", () => {
  test("are shared by the scrapes of 10 seconds", async () => {
    const registry = new Registry();
    let readings = 0;
    const gauges = new DatabaseGauges(registry, {
      readings: () => (readings++, running.app.database.readings()),
      busiestOrganizations: running.app.database.busiestOrganizations,
      hold: () => running.app.database.hold(),
    });
    await Promise.all([gauges.refresh(), gauges.refresh()]);
    for (let scrape = 0; scrape < 10; scrape++) await gauges.refresh();
    expect(readings).toBe(1);
  });

  test("leave no old values when the database is away", async () => {
    const registry = new Registry();
    const away = () => Promise.reject(new Error("away"));
    const gauges = new DatabaseGauges(registry, { readings: away, busiestOrganizations: away, hold: away });
    await gauges.refresh();
    expect(samplesOf(await registry.metrics())).toEqual([]);
  });

  test("that take too long have no values, but the database is not away", async () => {
    const owner = new pg.Client({ connectionString: running.database.ownerUrl });
    await owner.connect();
    await owner.query("begin");
    await owner.query("lock table chats in access exclusive mode");
    let samples: Sample[] = [];
    await until(async () => {
      samples = samplesOf((await running.api.request("GET", "/metrics")).text);
      return valueOf(samples, "parley_live_conversations") === undefined;
    });
    await owner.end();
    expect(valueOf(samples, "parley_events_unsequenced")).toBeUndefined();
    expect(valueOf(samples, "parley_database_up")).toBe(1);
  });
});
