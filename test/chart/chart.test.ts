import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { syntaxError } from "../support/promql";
import { SETTINGS } from "../../src/platform/settings/config";
import { problemsOf } from "./kubernetes";
import { render, type Labels, type Manifest, type PodSpec, type Rendered } from "./render";
import { EVERYTHING, OPERATORS, REQUIRED } from "./values";

/** A label value or the name of a Service or Job. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const isValid = new Ajv({ strictTypes: false }).compile(
  JSON.parse(readFileSync("deploy/helm/parley/values.schema.json", "utf8")),
);

const ofKind = ({ manifests }: Rendered, kind: string): readonly Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);
const only = (rendered: Rendered, kind: string): Manifest => {
  const all = ofKind(rendered, kind);
  expect(all).toHaveLength(1);
  return all[0]!;
};
const podOf = ({ spec }: Manifest): { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec } =>
  spec.template;
const deployed = (rendered: Rendered) => podOf(only(rendered, "Deployment"));
const environmentOf = ({ containers: [{ env }] }: PodSpec): Labels =>
  Object.fromEntries(env.map(({ name, value }) => [name, value!]));
const failureOf = (values: object): string => {
  try {
    render(values);
  } catch (error) {
    return String(error);
  }
  return "nothing failed";
};
const withSettings = (settings: object, more: object = {}) => ({
  ...REQUIRED,
  ...more,
  settings: { ...REQUIRED.settings, ...settings },
});

describe.each(Object.entries(OPERATORS))("with %s, the chart", (_, values) => {
  const rendered = render(values);
  const workloads = [...ofKind(rendered, "Deployment"), ...ofKind(rendered, "Job")];
  const { labels } = deployed(rendered).metadata;

  test("has values that fit its schema, and makes objects that fit those of Kubernetes", () => {
    expect([isValid(rendered.values), isValid.errors]).toEqual([true, null]);
    expect(problemsOf(rendered.manifests)).toBe("");
  });

  test("gives every object a valid name that no other has, and the labels of the release", () => {
    const names = rendered.manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    for (const { metadata } of rendered.manifests) {
      expect(metadata.name).toMatch(NAME);
      expect(metadata.labels).toMatchObject({
        "app.kubernetes.io/name": "parley",
        "app.kubernetes.io/instance": "parley",
        "app.kubernetes.io/version": "1.0.0",
        "app.kubernetes.io/managed-by": "Helm",
        "helm.sh/chart": "parley-1.0.0",
      });
    }
  });

  test("selects the pods of servers, and not those of the migration", () => {
    const selectors = [
      only(rendered, "Deployment").spec.selector.matchLabels,
      deployed(rendered).spec,
      ofKind(rendered, "Service")[0]!.spec.selector,
      ...ofKind(rendered, "PodDisruptionBudget").map(({ spec }) => spec.selector.matchLabels),
      ...ofKind(rendered, "NetworkPolicy").map(({ spec }) => spec.podSelector.matchLabels),
      ...ofKind(rendered, "PodMonitor").map(({ spec }) => spec.selector.matchLabels),
    ].map((selector) => selector.topologySpreadConstraints?.[0].labelSelector.matchLabels ?? selector);
    for (const selector of selectors)
      expect(selector).toEqual({
        "app.kubernetes.io/name": labels["app.kubernetes.io/name"],
        "app.kubernetes.io/instance": labels["app.kubernetes.io/instance"],
      });
    for (const job of ofKind(rendered, "Job"))
      expect(podOf(job).metadata.labels["app.kubernetes.io/name"]).not.toBe(labels["app.kubernetes.io/name"]);
  });

  test("runs every container as an ordinary user without rights, on a read-only root", () => {
    for (const { spec } of workloads.map(podOf)) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          fsGroup: 1000,
          seccompProfile: { type: "RuntimeDefault" },
        },
      });
      expect(spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      const writable = spec.containers[0].volumeMounts.map(({ mountPath }) => mountPath);
      expect(writable).toEqual(expect.arrayContaining(["/data", "/tmp"]));
    }
  });

  test("mounts only volumes that exist", () => {
    for (const { spec } of workloads.map(podOf)) {
      const volumes = spec.volumes.map(({ name }) => name);
      const mounts = spec.containers[0].volumeMounts;
      expect(mounts.map(({ name }) => name).sort()).toEqual([...new Set(volumes)].sort());
      expect(mounts.map(({ mountPath }) => mountPath)).toHaveLength(volumes.length);
    }
  });

  test("takes secret settings from the Secret only, and knows every other setting", () => {
    for (const { spec } of workloads.map(podOf)) {
      expect(spec.containers[0].envFrom).toEqual([{ secretRef: { name: "parley-secret" } }]);
      for (const variable of spec.containers[0].env) {
        expect(Object.keys(variable)).toEqual(["name", "value"]);
        expect(typeof variable.value).toBe("string");
        expect(SETTINGS).toHaveProperty(variable.name);
      }
    }
  });

  test("asks servers for their health at the port at which they listen", () => {
    const { spec } = deployed(rendered);
    const [{ ports, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
    expect(ports).toEqual([{ name: "http", containerPort: Number(environmentOf(spec).PORT) }]);
    expect(startupProbe!.httpGet).toEqual({ path: "/health/live", port: "http" });
    expect(livenessProbe!.httpGet).toEqual({ path: "/health/live", port: "http" });
    expect(readinessProbe!.httpGet).toEqual({ path: "/health/ready", port: "http" });
  });

  test("gives servers time to stop", () => {
    const { spec } = deployed(rendered);
    const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = environmentOf(spec);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) + Number(grace));
  });

  test("sends requests to the port of the service", () => {
    const [service] = ofKind(rendered, "Service");
    expect(service!.spec.ports).toEqual([{ name: "http", port: expect.any(Number), targetPort: "http" }]);
    for (const { spec } of ofKind(rendered, "Ingress"))
      for (const { backend } of spec.rules[0].http.paths)
        expect(backend.service.port.number).toBe(service!.spec.ports[0].port);
  });
});

describe("with default values, the chart", () => {
  const rendered = render(REQUIRED);

  test("makes two servers, of which one may be away, a migration and a closed network", () => {
    expect(rendered.manifests.map(({ kind }) => kind).sort()).toEqual([
      "Deployment",
      "Job",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
    ]);
    expect(only(rendered, "Deployment").spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    expect(only(rendered, "PodDisruptionBudget").spec.maxUnavailable).toBe(1);
    expect(only(rendered, "NetworkPolicy").spec).toMatchObject({
      policyTypes: ["Ingress"],
      ingress: [{ ports: [{ port: "http" }] }],
    });
  });

  test("migrates before servers start, with their image and settings", () => {
    const job = only(rendered, "Job");
    expect(job.metadata.annotations).toEqual({
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    });
    expect(podOf(job).spec).toMatchObject({ restartPolicy: "Never" });
    const [migration] = podOf(job).spec.containers;
    const [server] = deployed(rendered).spec.containers;
    expect(migration.args).toEqual(["migrate"]);
    for (const part of ["image", "env", "envFrom", "resources"] as const)
      expect(migration[part]).toEqual(server[part]);
    expect(server.image).toBe("registry.example.com/parley:1.0.0");
  });

  test("warns of a proxy that rate limits would count as one client", () => {
    expect(rendered.notes).toContain("serves https://parley.example.com.");
    expect(rendered.notes).toContain("settings.TRUST_PROXY is not set");
    expect(render(EVERYTHING).notes).not.toContain("TRUST_PROXY");
  });
});

describe("with every feature, the chart", () => {
  const rendered = render(EVERYTHING);

  test("passes settings as they are written, without those that are empty", () => {
    expect(environmentOf(deployed(rendered).spec)).toEqual({
      PORT: "4000",
      HOST: "0.0.0.0",
      DATA_DIR: "/data",
      PUBLIC_BASE_URL: "https://parley.example.com",
      TRUST_PROXY: "10.0.0.0/8,192.168.0.0/16",
      SHUTDOWN_DELAY_SECONDS: "15",
      SHUTDOWN_GRACE_SECONDS: "120",
      MAX_FILE_BYTES: "30000000",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      ROW_LEVEL_SECURITY: "true",
      WORKER: "false",
      CATALOG_FILE: "/etc/parley/catalog.json",
    });
  });

  test("lets a claim hold the files of all servers, and mounts the volumes of the operator", () => {
    const { spec } = deployed(rendered);
    expect(spec.volumes).toEqual([
      { name: "data", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
      { name: "files", persistentVolumeClaim: { claimName: "parley-files" } },
      { name: "catalog", configMap: { name: "parley-catalog" } },
    ]);
    expect(spec.containers[0].volumeMounts).toContainEqual({ name: "files", mountPath: "/data/files" });
    for (const pod of [deployed(rendered), podOf(only(rendered, "Job"))])
      expect(pod.spec.containers[0].volumeMounts).toContainEqual(EVERYTHING.extraVolumeMounts[0]);
  });

  test("gives servers and the migration the operator's place, account and image", () => {
    const { nodeSelector, tolerations, affinity, imagePullSecrets, serviceAccountName } = EVERYTHING;
    for (const { spec } of [deployed(rendered), podOf(only(rendered, "Job"))]) {
      expect(spec).toMatchObject({
        ...{ nodeSelector, tolerations, affinity, imagePullSecrets, serviceAccountName },
        containers: [{ image: "registry.example.com/parley:1.0.0-eu", imagePullPolicy: "Always" }],
      });
    }
    expect(deployed(rendered).metadata).toMatchObject({
      labels: EVERYTHING.podLabels,
      annotations: EVERYTHING.podAnnotations,
    });
  });

  test("scales by CPU and by the waiting jobs of this release, and sets no number of servers itself", () => {
    expect(only(rendered, "Deployment").spec).not.toHaveProperty("replicas");
    const { spec } = only(rendered, "ScaledObject");
    expect(spec).toMatchObject({
      scaleTargetRef: { name: "parley" },
      minReplicaCount: 3,
      maxReplicaCount: 9,
      triggers: [
        { type: "cpu", metricType: "Utilization", metadata: { value: "60" } },
        {
          type: "prometheus",
          metadata: {
            serverAddress: "http://prometheus.monitoring:9090",
            query:
              'sum(max by (task) (parley_jobs_waiting{namespace="default", pod=~"parley(-[^-]+){1,2}"}))',
            threshold: "20",
          },
        },
      ],
    });
    expect(syntaxError(spec.triggers[1].metadata.query)).toBeUndefined();
  });

  test("lets the Prometheus Operator collect the metrics that this query reads, and the ingress hide them", () => {
    expect(only(rendered, "PodMonitor")).toMatchObject({
      metadata: { labels: { release: "prometheus" } },
      spec: { podMetricsEndpoints: [{ port: "http", path: "/metrics", interval: "30s" }] },
    });
    const { spec } = only(rendered, "Ingress");
    expect(spec.tls).toEqual([{ hosts: ["parley.example.com"], secretName: "parley-tls" }]);
    const [metrics, all] = spec.rules[0].http.paths;
    expect([metrics.path, metrics.backend.service.name]).toEqual(["/metrics", "parley-closed"]);
    expect([all.path, all.backend.service.name]).toEqual(["/", "parley"]);
    const closed = ofKind(rendered, "Service").find(({ metadata }) => metadata.name === "parley-closed")!;
    const { labels } = deployed(rendered).metadata;
    expect(Object.entries(closed.spec.selector).every(([name, value]) => labels[name] === value)).toBe(false);
  });

  test("lets only named peers reach servers, and the budget be a share", () => {
    expect(only(rendered, "NetworkPolicy").spec.ingress[0].from).toEqual(EVERYTHING.networkPolicy.from);
    expect(only(rendered, "PodDisruptionBudget").spec.maxUnavailable).toBe("25%");
  });
});

test("scales by CPU alone without KEDA", () => {
  const { spec } = only(render(OPERATORS["scaling by CPU alone"]!), "HorizontalPodAutoscaler");
  expect(spec).toEqual({
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "parley" },
    minReplicas: 3,
    maxReplicas: 9,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
    ],
  });
});

describe("the query of KEDA", () => {
  const keda = { enabled: true, prometheusAddress: "http://prometheus:9090" };
  const queryOf = (values: object, release: string) =>
    only(
      render({ ...REQUIRED, autoscaling: { enabled: true, keda: { ...keda, ...values } } }, release),
      "ScaledObject",
    ).spec.triggers[1].metadata.query as string;

  test("finds the pods of its release, and not those of one whose name is longer", () => {
    const [, pods] = /pod=~"(.+)"/.exec(queryOf({}, "parley"))!;
    const matches = (pod: string) => new RegExp(`^${pods}$`).test(pod);
    expect(matches("parley-6d4cf56db6-x7k2p")).toBe(true);
    expect(matches("parley-eu-6d4cf56db6-x7k2p")).toBe(false);
  });

  test("takes the labels of the operator as they are", () => {
    const query = queryOf({ selector: 'job="parley: eu #1"' }, "parley");
    expect(query).toBe('sum(max by (task) (parley_jobs_waiting{job="parley: eu #1"}))');
    expect(syntaxError(query)).toBeUndefined();
  });
});

describe("the name of a release", () => {
  test.each([
    ["acme", "acme-parley"],
    ["parley-eu", "parley-eu"],
    ["42", "42-parley"],
  ])("%s gives objects the name %s", (release, name) => {
    const rendered = render(REQUIRED, release);
    expect(only(rendered, "Deployment").metadata.name).toBe(name);
    expect(deployed(rendered).metadata.labels["app.kubernetes.io/instance"]).toBe(release);
  });

  test("may have 53 characters, as many as Helm takes", () => {
    for (const release of ["a".repeat(53), `${"a".repeat(47)}-bbbbb`])
      for (const { metadata } of render(EVERYTHING, release).manifests) expect(metadata.name).toMatch(NAME);
  });
});

test("hosts and names that YAML reads as something else stay texts", () => {
  const rendered = render({
    ...REQUIRED,
    existingSecret: "123",
    serviceAccountName: "1e3",
    files: { existingClaim: "007" },
    ingress: { enabled: true, host: "*.example.com", className: "on", tlsSecret: "0x1" },
  });
  expect(only(rendered, "Ingress").spec).toMatchObject({
    ingressClassName: "on",
    tls: [{ hosts: ["*.example.com"], secretName: "0x1" }],
    rules: [{ host: "*.example.com" }],
  });
  for (const { spec } of [deployed(rendered), podOf(only(rendered, "Job"))]) {
    expect(spec.containers[0].envFrom).toEqual([{ secretRef: { name: "123" } }]);
    expect(spec.serviceAccountName).toBe("1e3");
  }
  expect(deployed(rendered).spec.volumes).toContainEqual({
    name: "files",
    persistentVolumeClaim: { claimName: "007" },
  });
});

const SECRET_NAMES = Object.keys(SETTINGS).filter(
  (name) => /KEY|SECRET|HEADERS|^DATABASE_.*URL/.test(name) && !/PUBLIC_KEY|ACCESS_KEY_ID/.test(name),
);

describe("the chart refuses", () => {
  const REFUSED: [string, object, string][] = [
    ["no image", { ...REQUIRED, image: {} }, "Set image.repository: where you have pushed the image"],
    ["no Secret", { ...REQUIRED, existingSecret: "" }, "Set existingSecret: a Secret with DATABASE_URL"],
    ["no address", withSettings({ PUBLIC_BASE_URL: "" }), "Set settings.PUBLIC_BASE_URL: the address"],
    ["no store", withSettings({ S3_BUCKET: null }), "Set settings.S3_BUCKET or files.existingClaim"],
    ["an ingress without host", { ...REQUIRED, ingress: { enabled: true } }, "Set ingress.host."],
    [
      "KEDA without Prometheus",
      { ...REQUIRED, autoscaling: { enabled: true, keda: { enabled: true } } },
      "Set autoscaling.keda.prometheusAddress.",
    ],
    [
      "too little time to stop",
      withSettings({ SHUTDOWN_DELAY_SECONDS: 30 }),
      "Set terminationGracePeriodSeconds to at least 91",
    ],
    ...["PORT", "HOST", "DATA_DIR"].map((name): [string, object, string] => [
      `the setting ${name}`,
      withSettings({ [name]: "1" }),
      `Remove settings.${name}: the chart`,
    ]),
  ];

  test.each(REFUSED)("%s", (_, values, message) => {
    expect(failureOf(values)).toContain(message);
  });

  test("secrets in settings", () => {
    expect(SECRET_NAMES).toEqual(expect.arrayContaining(["DATABASE_URL", "ENCRYPTION_KEYS", "VAPI_API_KEY"]));
    for (const name of [...SECRET_NAMES, "ANTHROPIC_API_KEY"])
      expect(failureOf(withSettings({ [name]: "secret" }))).toContain(`Move settings.${name} to the Secret`);
  });
});

test("the chart accepts every other setting", () => {
  const own = ["PORT", "HOST", "DATA_DIR"];
  const others = Object.keys(SETTINGS).filter((name) => ![...SECRET_NAMES, ...own].includes(name));
  const rendered = render(withSettings(Object.fromEntries(others.map((name) => [name, "1"]))));
  expect(Object.keys(environmentOf(deployed(rendered).spec)).sort()).toEqual([...others, ...own].sort());
});
