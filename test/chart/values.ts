/** Values of operators. */

/** The values that the chart requires. */
export const REQUIRED = {
  image: { repository: "registry.example.com/parley" },
  existingSecret: "parley-secret",
  settings: { PUBLIC_BASE_URL: "https://parley.example.com", S3_BUCKET: "parley" },
};

/** Every optional feature, with scaling by CPU and waiting jobs. */
export const EVERYTHING = {
  image: { repository: "registry.example.com/parley", tag: "1.0.0-eu", pullPolicy: "Always" },
  imagePullSecrets: [{ name: "registry" }],
  existingSecret: "parley-secret",
  settings: {
    PUBLIC_BASE_URL: "https://parley.example.com",
    TRUST_PROXY: "10.0.0.0/8,192.168.0.0/16",
    SHUTDOWN_DELAY_SECONDS: 15,
    SHUTDOWN_GRACE_SECONDS: 120,
    MAX_FILE_BYTES: 30_000_000,
    OTEL_TRACES_SAMPLER_ARG: 0.25,
    ROW_LEVEL_SECURITY: true,
    WORKER: false,
    CALL_COUNTRIES: "",
    CATALOG_FILE: "/etc/parley/catalog.json",
  },
  files: { existingClaim: "parley-files" },
  replicas: 4,
  serviceAccountName: "parley",
  podAnnotations: { "example.com/team": "voice" },
  podLabels: { "example.com/tier": "on" },
  nodeSelector: { "kubernetes.io/arch": "amd64" },
  tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] }],
      },
    },
  },
  extraVolumes: [{ name: "catalog", configMap: { name: "parley-catalog" } }],
  extraVolumeMounts: [{ name: "catalog", mountPath: "/etc/parley", readOnly: true }],
  resources: { requests: { cpu: 1, memory: "1Gi" }, limits: { memory: "2Gi" } },
  migration: { enabled: true, activeDeadlineSeconds: 7_200 },
  service: { port: 8_080 },
  ingress: {
    enabled: true,
    className: "nginx",
    host: "parley.example.com",
    annotations: { "cert-manager.io/cluster-issuer": "letsencrypt" },
    tlsSecret: "parley-tls",
  },
  terminationGracePeriodSeconds: 136,
  podDisruptionBudget: { enabled: true, maxUnavailable: "25%" },
  autoscaling: {
    enabled: true,
    minReplicas: 3,
    maxReplicas: 9,
    cpuPercent: 60,
    keda: { enabled: true, prometheusAddress: "http://prometheus.monitoring:9090" },
  },
  podMonitor: { enabled: true, interval: "30s", labels: { release: "prometheus" } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } } }],
  },
};

const { keda, ...byCpu } = EVERYTHING.autoscaling;

/** Values of several operators, by what is particular about them. */
export const OPERATORS: Readonly<Record<string, object>> = {
  "default values": REQUIRED,
  "every feature": EVERYTHING,
  "scaling by CPU alone": { ...EVERYTHING, autoscaling: { ...byCpu, keda: { ...keda, enabled: false } } },
  "no optional feature": {
    ...REQUIRED,
    migration: { enabled: false },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
    ingress: { annotations: null },
    resources: null,
  },
};
