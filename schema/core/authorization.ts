import { speaksForOrganization, type Caller } from "../../src/account/auth/caller";
import { DomainError } from "../../src/platform/errors";
import { IMPORTS } from "./imports";

const unauthenticated = new DomainError(
  "UNAUTHENTICATED",
  "Authentication required: send X-API-Key, or Authorization: Bearer <token>.",
);
const keyOnly = new DomainError(
  "UNAUTHENTICATED",
  "API key required: send X-API-Key. This operation does not accept bearer tokens.",
);
const publicKey = new DomainError(
  "FORBIDDEN",
  "A PUBLIC key may only run operations of the widget. Use a SECRET key or a token.",
);
const secretKeyOnly = new DomainError(
  "FORBIDDEN",
  "A PUBLIC key may only run operations of the widget. Use a SECRET key.",
);
const userToken = new DomainError(
  "FORBIDDEN",
  "A token issued for a user may not do this. Use a SECRET key or a token without userId.",
);
const visitorOnly = new DomainError(
  "FORBIDDEN",
  "A visitor's session may only run operations of the widget. Use a SECRET key or a token.",
);
const noVisitor = new DomainError(
  "FORBIDDEN",
  "Visitor's session required: start one with startWidgetSession and a PUBLIC key.",
);
const analyticsToken = new DomainError(
  "FORBIDDEN",
  "The token of the analytics page may only read the data that this page shows. Use a SECRET key or a token.",
);

/** Callers that may run an operation or read a type. Each rule throws for any other caller. */
const RULES = {
  /** Every caller: access is checked on the fields that lead here. */
  anyone() {
    return undefined;
  },
  /** Any key, or a token other than a visitor's session or that of the analytics page: credentials that a web page starts with. */
  page(caller: Caller | undefined) {
    if (!caller || caller.kind === "ANONYMOUS") throw unauthenticated;
    if (caller.kind === "VISITOR") throw visitorOnly;
    if (caller.kind === "ANALYTICS") throw analyticsToken;
  },
  /** A visitor's session only. */
  visitor(caller: Caller | undefined) {
    if (!caller || caller.kind === "ANONYMOUS") throw unauthenticated;
    if (caller.kind !== "VISITOR") throw noVisitor;
  },
  /** A SECRET key or any token. */
  data(caller: Caller | undefined) {
    RULES.page(caller);
    if (caller?.kind === "PUBLIC") throw publicKey;
  },
  /** Like `data`, plus the token of the analytics page. */
  transcript(caller: Caller | undefined) {
    if (caller?.kind !== "ANALYTICS") RULES.data(caller);
  },
  /** A SECRET key only. */
  key(caller: Caller | undefined) {
    if (caller && ["TOKEN", "VISITOR", "ANALYTICS"].includes(caller.kind)) throw keyOnly;
    if (caller?.kind === "PUBLIC") throw secretKeyOnly;
    RULES.data(caller);
  },
  /** A SECRET key or a token without `userId`. */
  organization(caller: Caller | undefined) {
    RULES.data(caller);
    if (caller && !speaksForOrganization(caller)) throw userToken;
  },
  /** Like `organization`, plus the token of the analytics page. */
  analytics(caller: Caller | undefined) {
    if (caller?.kind !== "ANALYTICS") RULES.organization(caller);
  },
  /** Like `organization`, plus the anonymous caller that the settings paths admit. */
  settings(caller: Caller | undefined) {
    if (caller?.kind !== "ANONYMOUS") RULES.organization(caller);
  },
} as const satisfies Record<string, (caller: Caller | undefined) => void>;

export type Rule = keyof typeof RULES;

/** @throws UNAUTHENTICATED, FORBIDDEN */
export const authorize = (rule: Rule, caller: Caller | undefined): void => RULES[rule](caller);

/** Rule of every operation. An operation without a row prevents startup. */
export const AUTHORIZATION: Readonly<Record<string, Rule>> = {
  assistants: "data",
  assistantTemplates: "data",
  assistant: "data",
  createAssistant: "data",
  updateAssistant: "data",
  deleteAssistant: "data",
  duplicateAssistant: "data",
  updateVoiceConfiguration: "data",
  updateSmsConfiguration: "data",
  updateChatConfiguration: "data",
  updateThemeConfiguration: "data",
  updateRagSettings: "organization",
  updateAllowedOrigins: "organization",
  assistantVersion: "organization",
  assistantDiff: "organization",
  restoreAssistantVersion: "organization",
  describeAssistantVersion: "organization",
  saveAssistantDraft: "organization",
  publishAssistantDraft: "organization",
  discardAssistantDraft: "organization",
  updateAssistantDocument: "organization",
  createAssistantFromDocument: "organization",

  startWidgetSession: "page",
  widget: "visitor",
  widgetChat: "visitor",
  widgetChats: "visitor",
  startWidgetChat: "visitor",
  postWidgetMessage: "visitor",
  updateWidgetChat: "visitor",
  endWidgetChat: "visitor",
  startWidgetCall: "visitor",
  widgetChatEvents: "visitor",
  node: "data",
  nodes: "data",
  log: "transcript",
  logs: "analytics",
  analytics: "analytics",
  chat: "organization",
  chats: "organization",
  startChat: "organization",
  postMessage: "data",
  endChat: "organization",
  chatEvents: "organization",

  organization: "data",
  updateOrganization: "organization",
  issueToken: "organization",
  issueAnalyticsToken: "analytics",
  keys: "organization",
  keysConnection: "organization",
  key: "organization",
  publicKey: "data",
  createKey: "organization",
  updateKey: "organization",
  deleteKey: "organization",

  webhookDestinations: "settings",
  webhookDestinationsConnection: "organization",
  webhookDestination: "settings",
  generateWebhookSecret: "settings",
  createWebhookDestination: "settings",
  updateWebhookDestination: "settings",
  deleteWebhookDestination: "settings",
  auditEvents: "organization",
  auditHead: "organization",
  projects: "organization",
  projectsConnection: "organization",
  project: "organization",
  createProject: "organization",
  updateProject: "organization",
  deleteProject: "organization",

  events: "organization",
  event: "organization",
  delivery: "organization",
  organizationEvents: "organization",
  organizationChanges: "organization",
  assistantChanges: "organization",
  deliveryChanges: "organization",
  redeliver: "organization",
  replayEvents: "organization",
  testWebhookDestination: "organization",
  sendSampleEvents: "organization",

  modelCredentials: "organization",
  setModelCredential: "organization",
  modelMappings: "organization",
  setModelMapping: "organization",
  testModel: "organization",
  testFunction: "organization",
  updateToolServers: "organization",
  testToolServer: "organization",
  endUser: "organization",
  endUsers: "organization",
  forgetEndUser: "organization",
  deleteLog: "organization",
  deleteLogs: "organization",
  updateRetention: "organization",
  erasures: "organization",
  erasure: "organization",
  exportEndUser: "organization",
  endUserExports: "organization",
  endUserExport: "organization",
  endUserExportDownload: "organization",
  identitySecret: "key",

  calls: "organization",
  call: "organization",
  placeAssistantCall: "key",
  placeWorkflowCall: "key",
  startWebCall: "page",
  cancelCall: "organization",
  callEvents: "organization",

  workflows: "organization",
  workflowsConnection: "organization",
  workflow: "organization",
  createWorkflow: "organization",
  updateWorkflow: "organization",
  deleteWorkflow: "organization",
  replaceWorkflowGraph: "organization",
  createWorkflowNode: "organization",
  updateWorkflowNode: "organization",
  deleteWorkflowNode: "organization",
  createWorkflowEdge: "organization",
  updateWorkflowEdge: "organization",
  deleteWorkflowEdge: "organization",
  deployments: "organization",
  deploymentsConnection: "organization",
  deployment: "organization",
  createDeployment: "organization",
  updateDeployment: "organization",
  deleteDeployment: "organization",
  telephonyConnections: "organization",
  telephonyConnectionsConnection: "organization",
  telephonyConnection: "organization",
  connectTelephony: "organization",
  updateTelephonyConnection: "organization",
  disconnectTelephony: "organization",

  attachFile: "organization",
  detachFile: "organization",
  files: "key",
  file: "key",
  fileDownload: "key",
  uploadFile: "key",
  deleteFile: "key",
  ...Object.fromEntries(IMPORTS.map((name) => [name, "key" as const])),
};
