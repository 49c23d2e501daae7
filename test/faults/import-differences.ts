/** What the answers of an imported copy may have otherwise than those of its source: paths of values, or an error code. */
type Differences = Readonly<Record<string, readonly string[]>>;

/** Lists with fewer records. */
const EMPTY_LIST = ["*"];
const EMPTY_PAGE = ["edges.*", "nodes.*", "pageInfo.endCursor", "pageInfo.startCursor", "totalCount"];

/** The source shows times in milliseconds, and cursors contain microseconds. */
const CURSORS = ["edges.*.cursor", "pageInfo.endCursor", "pageInfo.startCursor"];

export const OF_REST: Differences = {
  // Made anew by each request.
  regenerateWebhookSecret: [""],
  downloadFile: ["url"],
  // The copy is another organization.
  getOrganization: ["analyticUrl", "id"],
  listFiles: ["data.*.organizationId"],
  // The copy has its own keys, too, and only its operator gives the permission to import.
  listKeys: ["*", "*.permissions.*"],
};

export const OF_GRAPHQL: Differences = {
  // The interface of the source shows no times of these records, no versions and no drafts.
  assistants: [
    ...["createdAt", "updatedAt", "version.actor", "version.createdAt", "version.note"].map(
      (field) => `data.*.${field}`,
    ),
  ],
  assistant: [
    ...["createdAt", "updatedAt", "draft", "toolServers.*", "versions.totalCount"],
    ...["actor", "createdAt", "id", "note", "number"].map((field) => `version.${field}`),
  ],
  assistantVersion: ["actor", "createdAt", "document.chat.functions.*", "note"],
  log: ["chat.assistantVersion", "version"],
  logs: [...CURSORS, "nodes.*.chat.assistantVersion"],
  chat: [...["assistant.createdAt", "assistant.updatedAt"], ...["assistantVersion", "version", "versions.*"]],
  keys: ["*", "*.createdAt", "*.lastUsedAt", "*.permissions.*"],
  keysConnection: [
    ...[...EMPTY_PAGE, ...CURSORS],
    ...["edges.*.node", "nodes.*"].flatMap((record) =>
      ["createdAt", "lastUsedAt", "permissions.*"].map((field) => `${record}.${field}`),
    ),
  ],
  key: ["createdAt"],
  publicKey: ["createdAt"],
  // The copy is another organization with an audit log of its own.
  auditEvents: [...EMPTY_PAGE, "pageInfo.hasNextPage"],
  auditHead: ["hash", "position"],
  organization: ["analyticUrl", "id", "retention.id"],
  files: ["data.*.organizationId", "data.*.url"],
  file: ["organizationId", "url"],
  fileDownload: ["url"],
  // Past events are not copied, and a period without an end ends now.
  webhookDestinations: ["*.deliveries.totalCount"],
  webhookDestinationsConnection: [
    ...[...CURSORS, "edges.*.node.deliveries.totalCount", "nodes.*.deliveries.totalCount"],
  ],
  webhookDestination: ["deliveries.totalCount"],
  analytics: ["from", "to", "webhooks.deliveries", "webhooks.pending"],
  events: [...EMPTY_PAGE, "pageInfo.hasNextPage"],
  event: ["EVENT_NOT_FOUND"],
  delivery: ["DELIVERY_NOT_FOUND"],
  // No service shows these records.
  erasures: EMPTY_PAGE,
  erasure: ["ERASURE_NOT_FOUND"],
  endUserExports: EMPTY_PAGE,
  endUserExport: ["EXPORT_NOT_FOUND"],
  endUserExportDownload: ["EXPORT_NOT_FOUND"],
  projects: EMPTY_LIST,
  projectsConnection: EMPTY_PAGE,
  project: ["PROJECT_NOT_FOUND"],
  telephonyConnections: EMPTY_LIST,
  telephonyConnectionsConnection: EMPTY_PAGE,
  telephonyConnection: ["TELEPHONY_CONNECTION_NOT_FOUND"],
  deployments: EMPTY_LIST,
  deploymentsConnection: EMPTY_PAGE,
  deployment: ["DEPLOYMENT_NOT_FOUND"],
  workflows: EMPTY_LIST,
  workflowsConnection: EMPTY_PAGE,
  workflow: ["WORKFLOW_NOT_FOUND"],
};
