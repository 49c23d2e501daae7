import { speaksForOrganization, type Caller } from "../../src/account/auth/caller";
import { DomainError } from "../../src/platform/errors";

const unauthenticated = new DomainError(
  "UNAUTHENTICATED",
  "This needs a credential: the header X-API-Key, or Authorization: Bearer <token>.",
);
const keyOnly = new DomainError(
  "UNAUTHENTICATED",
  "This needs an API key in the header X-API-Key; a bearer token is not accepted here.",
);
const publicKey = new DomainError(
  "FORBIDDEN",
  "A PUBLIC key may only do what the widget does; this needs a SECRET key or a token.",
);
const userToken = new DomainError(
  "FORBIDDEN",
  "A token that was issued for a user may not do this; it needs a SECRET key or a token without userId.",
);

const visitorOnly = new DomainError(
  "FORBIDDEN",
  "A visitor's session may only do what the widget does; this needs a SECRET key or a token.",
);
const noVisitor = new DomainError(
  "FORBIDDEN",
  "Only a visitor's session does this: startWidgetSession opens one with a PUBLIC key.",
);
const analyticsToken = new DomainError(
  "FORBIDDEN",
  "The token of the analytics page may read what that page shows, and nothing else.",
);

/** Who may run an operation or read a type. Each throws for any other caller. */
const RULES = {
  /** Every caller: the fields around it decide. */
  anyone() {
    return undefined;
  },
  /** Any key or token: what a web page may do before it has a visitor's session. */
  page(caller: Caller | undefined) {
    if (!caller || caller.kind === "ANONYMOUS") throw unauthenticated;
    if (caller.kind === "VISITOR") throw visitorOnly;
    if (caller.kind === "ANALYTICS") throw analyticsToken;
  },
  /** A visitor's session, and nobody else: it has chats of its own. */
  visitor(caller: Caller | undefined) {
    if (!caller || caller.kind === "ANONYMOUS") throw unauthenticated;
    if (caller.kind !== "VISITOR") throw noVisitor;
  },
  /** A SECRET key, or any token. */
  data(caller: Caller | undefined) {
    RULES.page(caller);
    if (caller?.kind === "PUBLIC") throw publicKey;
  },
  /** As `data`, and the token of the analytics page. */
  transcript(caller: Caller | undefined) {
    if (caller?.kind !== "ANALYTICS") RULES.data(caller);
  },
  /** A SECRET key, and no token. */
  key(caller: Caller | undefined) {
    if (caller && ["TOKEN", "VISITOR", "ANALYTICS"].includes(caller.kind)) throw keyOnly;
    RULES.data(caller);
  },
  /** A SECRET key, or a token without `userId`. */
  organization(caller: Caller | undefined) {
    RULES.data(caller);
    if (caller && !speaksForOrganization(caller)) throw userToken;
  },
  /** As `organization`, and the token of the analytics page. */
  analytics(caller: Caller | undefined) {
    if (caller?.kind !== "ANALYTICS") RULES.organization(caller);
  },
  /** As `organization`, and the caller without credential that only the settings paths make. */
  settings(caller: Caller | undefined) {
    if (caller?.kind !== "ANONYMOUS") RULES.organization(caller);
  },
} as const satisfies Record<string, (caller: Caller | undefined) => void>;

export type Rule = keyof typeof RULES;

/** @throws UNAUTHENTICATED, FORBIDDEN */
export const authorize = (rule: Rule, caller: Caller | undefined): void => RULES[rule](caller);

/** One caller of each kind. */
const EVERY_CALLER: readonly (Caller | undefined)[] = [
  undefined,
  { organizationId: "", kind: "TOKEN", userId: "" },
  ...(["SECRET", "PUBLIC", "TOKEN", "VISITOR", "ANALYTICS", "ANONYMOUS"] as const).map((kind) => ({
    organizationId: "",
    kind,
  })),
];

const allows = (rule: Rule, caller: Caller | undefined): boolean => {
  try {
    RULES[rule](caller);
    return true;
  } catch {
    return false;
  }
};

/** Whether every caller that fulfills one rule fulfills the other. */
export const implies = (rule: Rule, other: Rule): boolean =>
  EVERY_CALLER.every((caller) => !allows(rule, caller) || allows(other, caller));

/** The rule of every operation. One without a row stops the start. */
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

  log: "transcript",
  logs: "analytics",
  analytics: "analytics",
  chat: "organization",
  startChat: "organization",
  postMessage: "data",
  endChat: "organization",
  chatEvents: "organization",

  organization: "data",
  updateOrganization: "organization",
  issueToken: "organization",
  keys: "organization",
  key: "organization",
  publicKey: "data",
  createKey: "organization",
  updateKey: "organization",
  deleteKey: "organization",

  webhookDestinations: "settings",
  generateWebhookSecret: "settings",
  createWebhookDestination: "settings",
  updateWebhookDestination: "settings",
  deleteWebhookDestination: "settings",

  auditEvents: "organization",
  auditHead: "organization",

  projects: "organization",
  project: "organization",
  createProject: "organization",
  updateProject: "organization",
  deleteProject: "organization",

  events: "organization",
  organizationEvents: "organization",
  redeliver: "organization",
  replayEvents: "organization",
  testWebhookDestination: "organization",

  modelCredentials: "organization",
  setModelCredential: "organization",
  testFunction: "organization",
  endUser: "organization",
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
  identitySecret: "organization",

  calls: "organization",
  call: "organization",
  placeAssistantCall: "key",
  placeWorkflowCall: "key",
  startWebCall: "page",
  cancelCall: "organization",
  callEvents: "organization",

  workflows: "organization",
  workflow: "organization",
  createWorkflow: "organization",
  updateWorkflow: "organization",
  deleteWorkflow: "organization",
  createWorkflowNode: "organization",
  updateWorkflowNode: "organization",
  deleteWorkflowNode: "organization",
  createWorkflowEdge: "organization",
  updateWorkflowEdge: "organization",
  deleteWorkflowEdge: "organization",
  deployments: "organization",
  deployment: "organization",
  createDeployment: "organization",
  updateDeployment: "organization",
  deleteDeployment: "organization",

  telephonyConnections: "organization",
  connectTelephony: "organization",
  updateTelephonyConnection: "organization",
  disconnectTelephony: "organization",

  attachFile: "organization",
  detachFile: "organization",
  files: "key",
  fileDownload: "key",
  uploadFile: "key",
  deleteFile: "key",
};
