import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { syntaxError } from "../support/promql";
import { exitCodeOf, mistake } from "../../src/platform/mistake";
import { readConfig, SETTINGS } from "../../src/platform/settings/config";

const ROOT = join(__dirname, "../..");
const text = (path: string) => readFileSync(join(ROOT, path), "utf8");
const yaml = (path: string) => parse(text(path), { merge: true });
const { version, scripts } = JSON.parse(text("package.json"));
/** A version of at least two numbers, which a later image does not get. */
const PINNED = /:\d+\.\d+(\.\d+)?(-[\w.-]+)?$/;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

const areSettings = (names: readonly string[]) =>
  expect(names.filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([]);
const isServed = (path: string) => expect(text("src/http/health.ts")).toContain(`router.get("${path}"`);

describe("the container image", () => {
  const file = text("deploy/container/Containerfile");

  test("begins with an image of a fixed version, runs as an ordinary user and names settings", () => {
    const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(file)!;
    expect(base).toMatch(PINNED);
    expect(file.match(/^FROM .*/gm)).toEqual(["FROM ${NODE_IMAGE} AS build", "FROM ${NODE_IMAGE}"]);
    expect(file).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    areSettings([.../^ENV (.*)$/m.exec(file)![1]!.matchAll(/(\w+)=/g)].map(([, name]) => name!));
    expect(file).toContain(`parley:${version}`);
  });

  test("gets all files that the build reads", () => {
    const sent = text("deploy/container/Containerfile.dockerignore")
      .match(/^!.*/gm)!
      .map((it) => it.slice(1));
    expect(sent.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const [, sources] = /const STEPS = ([^]*?)\n\];/.exec(text("src/cli/launch.mjs"))!;
    const read = [...sources!.matchAll(/"([\w./-]+)",?(?=[^\]]*\],?\n)/g)].map(
      ([, path]) => path!.split("/")[0]!,
    );
    expect(read).toEqual(expect.arrayContaining(["schema", "src", "docs", "CHANGELOG.md"]));
    const shared = ["package.json", "package-lock.json", "tsconfig.json"];
    for (const path of [...read, ...shared].filter((it) => existsSync(join(ROOT, it))))
      expect(sent).toContain(path);
  });

  test("asks a path for its health that exists", () => {
    isServed(/\/health\/\w+/.exec(text("deploy/container/healthcheck.mjs"))![0]);
  });
});

describe("the Compose file", () => {
  const { services, networks } = yaml("deploy/compose.yaml");

  test("has images of fixed versions", () => {
    for (const { image, build } of Object.values(
      services as Record<string, { image: string; build?: object }>,
    ))
      expect(image).toMatch(build ? `parley:${version}` : PINNED);
  });

  test("gives both servers settings, and enough time to stop", () => {
    const server = services["parley-1"];
    expect(services["parley-2"]).toEqual(server);
    expect(server.env_file).toBe(".env"); // beside the Compose file, as docs/deployment.md says
    areSettings(Object.keys(server.environment));
    expect(server.environment.TRUST_PROXY).toBe(networks.front.ipam.config[0].subnet);
    const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = server.environment;
    expect(parseInt(server.stop_grace_period)).toBeGreaterThan(delay + grace);
    expect(delay).toBeGreaterThan(Number(/health_interval (\d+)s/.exec(text("deploy/Caddyfile"))![1]));
  });

  test("takes its variables from the example, which says all that are required", () => {
    const required = new Set(
      [...text("deploy/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name),
    );
    const example = text("deploy/compose.env.example");
    expect([...example.matchAll(/^(\w+)=$/gm)].map(([, name]) => name).sort()).toEqual([...required].sort());
  });

  test("has a proxy that knows both servers, asks for their health and hides the metrics", () => {
    const proxy = text("deploy/Caddyfile");
    expect(proxy).toContain("reverse_proxy parley-1:4000 parley-2:4000 {");
    isServed(/health_uri (\S+)/.exec(proxy)![1]!);
    expect(proxy).toMatch(/@metrics path \/metrics \/metrics\/\n\trespond @metrics 404/);
  });
});

describe("the Helm chart", () => {
  const folder = "deploy/helm/parley";
  const templates = readdirSync(join(ROOT, folder, "templates")).map((name) =>
    text(join(folder, "templates", name)),
  );
  const values = yaml(join(folder, "values.yaml"));

  test("has the version of the service, and settings that exist", () => {
    expect(yaml(join(folder, "Chart.yaml"))).toMatchObject({ version, appVersion: version });
    areSettings(Object.keys(values.settings));
  });

  describe("has a schema of its values that", () => {
    const schema = JSON.parse(text(join(folder, "values.schema.json")));
    const isValid = new Ajv({ strict: true, strictTypes: false }).compile(schema);
    const keysOf = (part: Schema): object =>
      Object.fromEntries(Object.entries(part.properties ?? {}).map(([name, inner]) => [name, keysOf(inner)]));
    /** The default values, with one replaced. */
    const withValue = (path: string, value: unknown) => {
      const all = structuredClone(values);
      const names = path.split(".");
      const last = names.pop()!;
      names.reduce((table, name) => table[name], all)[last] = value;
      return all;
    };

    test("accepts the default values, and knows each of them", () => {
      expect([isValid(values), isValid.errors]).toEqual([true, null]);
      const { global: _global, enabled: _enabled, ...known } = keysOf(schema) as Record<string, object>;
      const open = ["settings", "annotations", "labels", "resources", "podAnnotations", "podLabels"];
      const named = (table: object): object =>
        Object.fromEntries(
          Object.entries(table).map(([name, value]) => [
            name,
            value?.constructor === Object && !open.includes(name) ? named(value) : {},
          ]),
        );
      expect(known).toEqual(named(values));
    });

    test.each([
      ["ingress.enabled", "false"],
      ["migration.enabled", "no"],
      ["image.tag", 1.1],
      ["image.pullPolicy", "Sometimes"],
      ["existingSecret", null],
      ["settings.log_level", "info"],
      ["settings.CALL_COUNTRIES", ["US"]],
      ["settings.PUBLIC_BASE_URL", null],
      ["replicas", 0],
      ["replicas", 1.5],
      ["service.port", 70_000],
      ["terminationGracePeriodSeconds", 20],
      ["podLabels", { tier: 1 }],
      ["autoscaling.cpuPercent", 101],
      ["autoscaling.keda.waitingJobsPerServer", 0],
      ["podMonitor.interval", "15"],
      ["replicaCount", 3],
      ["ingress.hosts", ["parley.example.com"]],
      ["networkPolicy.from", { namespaceSelector: {} }],
    ])("refuses %s: %j", (path, value) => {
      expect(isValid(withValue(path, value))).toBe(false);
    });
  });

  test("asks paths for their health that exist, and runs a command that exists", () => {
    const all = templates.join("\n");
    const paths = [...all.matchAll(/path: (\/health\S*)/g)].map(([, path]) => path!);
    expect(paths.length).toBe(3);
    paths.forEach(isServed);
    expect(scripts[/args: \["(\w+)"\]/.exec(all)![1]!]).toBeDefined();
    expect(all).toContain(`containerPort: ${readConfig({}).PORT}`);
  });

  test("refuses settings that it sets itself", () => {
    const [, list] = /range \$name := list (.*) \}\}/.exec(templates.join("\n"))!;
    const refused = [...list!.matchAll(/"(\w+)"/g)].map(([, name]) => name!);
    areSettings(refused);
    const image = /^ENV (.*)$/m.exec(text("deploy/container/Containerfile"))![1]!;
    expect(refused).toEqual(expect.arrayContaining(["PORT", "HOST", "DATA_DIR"]));
    expect(image).toContain("DATA_DIR=/data");
    expect(templates.join("\n")).toContain(`- name: PORT\n  value: "${readConfig({}).PORT}"`);
  });

  test("lets its ingress pass on the largest file that the service accepts", () => {
    const limit = values.ingress.annotations["nginx.ingress.kubernetes.io/proxy-body-size"];
    expect(parseInt(limit) * 1_048_576).toBeGreaterThan(readConfig({}).MAX_FILE_BYTES + 1_048_576);
    expect(text("docs/deployment.md")).toContain(`client_max_body_size ${limit};`);
  });

  test("collects the metrics of each server at the path that has them", () => {
    const monitor = text(join(folder, "templates/podmonitor.yaml"));
    expect(monitor).toMatch(/port: http\n +path: \/metrics\n/);
    expect(templates.join("\n")).toContain("- name: http\n              containerPort");
  });

  test("scales by a metric that exists", () => {
    const [, query, metric] = /query: >-\n +(.*\bparley_(\w+).*)/.exec(templates.join("\n"))!;
    const own = '{namespace="default", pod=~"parley-.+"}';
    expect(query).toContain('{{ include "parley.selection" $ }}');
    expect(syntaxError(query!.replace(/\{\{.*?\}\}/, own))).toBeUndefined();
    expect(text("src/http/metrics/database-gauges.ts")).toMatch(new RegExp(`^  ${metric}: `, "m"));
  });

  test("gives a server time to stop", () => {
    const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = values.settings;
    expect(values.terminationGracePeriodSeconds).toBeGreaterThan(delay + grace);
  });
});

test("the version of the examples is that of the service, and the changelog has it", () => {
  for (const path of ["README.md", "docs/deployment.md", "deploy/container/Containerfile"])
    for (const [, named] of text(path).matchAll(/\bparley[-:](\d+\.\d+\.\d+)/g))
      expect([path, named]).toEqual([path, version]);
  expect(text("CHANGELOG.md")).toMatch(
    new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, "m"),
  );
});

test("the unit for systemd is that of the documentation, and gives a server time to stop", () => {
  const unit = text("deploy/systemd/parley.service");
  expect(text("docs/deployment.md")).toContain(`\`\`\`ini\n${unit}\`\`\`\n`);
  // A start fails at once while PostgreSQL is down; systemd gives up after five within 10 s by default.
  expect(unit).toMatch(/^StartLimitIntervalSec=0$[^]*^Restart=on-failure\nRestartSec=\d+$/m);
  expect(unit).toMatch(
    new RegExp(`^RestartPreventExitStatus=${exitCodeOf(mistake(new Error("invalid")))}$`, "m"),
  );
  const [, longestDelay] = /SHUTDOWN_DELAY_SECONDS: \[\s*whole\(0, (\d+)\)/.exec(
    text("src/platform/settings/config.ts"),
  )!;
  const { SHUTDOWN_GRACE_SECONDS: grace } = readConfig({});
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)![1])).toBeGreaterThan(Number(longestDelay) + grace);
});
