import type { Caller } from "../../src/account/auth/caller";
import { PERMISSIONS, type Permission } from "../../src/account/auth/limits";
import { DomainError } from "../../src/platform/errors";
import { AUTHORIZATION, authorize, type Rule } from "./authorization";
import { implies } from "./implied-rules";
import { IMPORTS } from "./imports";

/** Condition for running an operation or reading a type: the kind of credential, and the limits of a key. */
export interface Access {
  readonly rule: Rule;
  /** Permission that a key with limited permissions needs; undefined if none. */
  readonly permission?: Permission;
  /** Whether a key limited to assistants is admitted; it then sees only data of these assistants. */
  readonly inAssistants: boolean;
}

/** Operations whose permission differs from the default: `read` for queries and subscriptions, `write` for mutations. */
export const PERMISSION_OF: Readonly<Record<string, Permission>> = {
  placeAssistantCall: "calls",
  placeWorkflowCall: "calls",
  startWebCall: "calls",
  startWidgetCall: "calls",
  cancelCall: "calls",

  issueToken: "keys",
  issueAnalyticsToken: "read",
  keys: "keys",
  keysConnection: "keys",
  key: "keys",
  createKey: "keys",
  updateKey: "keys",
  deleteKey: "keys",
  identitySecret: "keys",

  webhookDestinations: "webhooks",
  webhookDestinationsConnection: "webhooks",
  webhookDestination: "webhooks",
  generateWebhookSecret: "webhooks",
  createWebhookDestination: "webhooks",
  updateWebhookDestination: "webhooks",
  deleteWebhookDestination: "webhooks",
  delivery: "webhooks",
  deliveryChanges: "webhooks",
  redeliver: "webhooks",
  replayEvents: "webhooks",
  testWebhookDestination: "webhooks",
  sendSampleEvents: "webhooks",

  ...Object.fromEntries(IMPORTS.map((name) => [name, "import" as const])),
};

/** Types whose permission differs from `read` when a nested field leads to them. */
const PERMISSION_OF_TYPE: Readonly<Record<string, Permission>> = {
  Delivery: "webhooks",
  DeliveryAttempt: "webhooks",
  IssuedToken: "keys",
  Key: "keys",
  ReplayResult: "webhooks",
  WebhookDestination: "webhooks",
};

/**
 * Operations that a key limited to assistants may run. All others concern records of the whole organization, or create
 * an assistant that the key could not access.
 */
export const IN_ASSISTANTS: ReadonlySet<string> = new Set([
  ...["assistants", "assistantTemplates", "assistant", "updateAssistant", "deleteAssistant"],
  ...["updateVoiceConfiguration", "updateSmsConfiguration", "updateChatConfiguration"],
  ...["updateThemeConfiguration", "updateRagSettings", "updateAllowedOrigins", "testFunction"],
  ...["updateToolServers", "testToolServer"],
  ...["assistantVersion", "assistantDiff", "restoreAssistantVersion", "describeAssistantVersion"],
  ...["saveAssistantDraft", "publishAssistantDraft", "discardAssistantDraft", "updateAssistantDocument"],
  ...["startWidgetSession", "widget", "widgetChat", "widgetChats", "startWidgetChat", "postWidgetMessage"],
  ...["updateWidgetChat", "endWidgetChat", "startWidgetCall", "widgetChatEvents"],
  ...["node", "nodes"],
  ...["log", "logs", "analytics", "chat", "chats", "startChat", "postMessage", "endChat", "chatEvents"],
  ...[
    "organization",
    "issueToken",
    "issueAnalyticsToken",
    "keys",
    "keysConnection",
    "key",
    "publicKey",
    "createKey",
    "updateKey",
    "deleteKey",
  ],
  ...["events", "event", "organizationEvents", "assistantChanges"],
  ...["calls", "call", "placeAssistantCall", "startWebCall", "cancelCall", "callEvents"],
]);

/** Types that a key limited to assistants may read: their objects belong to an assistant, to the key or to nobody. */
const TYPES_IN_ASSISTANTS: ReadonlySet<string> = new Set([
  ...["Assistant", "AssistantChange", "AttachedFile", "ConfigurationWarning", "Deleted", "RagSettings"],
  ...["ChatConfiguration", "SmsConfiguration", "ThemeConfiguration", "VoiceConfiguration"],
  ...["Call", "CallEvent", "Chat", "ChatEvent", "Event", "FunctionTest", "Message"],
  ...["ToolServer", "ToolServerTest", "ListedTool"],
  ...["AssistantVersion", "AssistantDraft", "DocumentChange", "VariableUse"],
  ...["CallRecordingData", "ConversationUpdatedData", "EventMessage", "FunctionCallData"],
  ...["InteractionStatusData", "SessionEndData", "SessionStartData", "StatusChangedData"],
  ...["Log", "LogEntry", "LogListItem"],
  ...["Analytics", "AnalyticsAssistant", "AnalyticsBucket", "AnalyticsChannel", "AnalyticsDay"],
  ...["AnalyticsEndReason", "AnalyticsFunction", "AnalyticsLengths", "AnalyticsSummary", "AnalyticsToken"],
  ...["AnswerTimes", "DeliveryDay", "FailingDestination", "UnansweredQuestion", "WebhookHealth"],
  ...["IssuedToken", "Key", "Organization"],
  ...["PageInfo", "PageMeta", "WebCall"],
  ...["Widget", "WidgetChat", "WidgetChatEvent", "WidgetMessage", "WidgetSession"],
]);

/** @param changes whether the operation is a mutation */
export const accessOf = (operation: string, changes: boolean): Access => ({
  rule: AUTHORIZATION[operation]!,
  permission: PERMISSION_OF[operation] ?? (changes ? "write" : "read"),
  inAssistants: IN_ASSISTANTS.has(operation),
});

export const accessOfType = (type: string, rule: Rule): Access => ({
  rule,
  ...(rule !== "anyone" && { permission: PERMISSION_OF_TYPE[type] ?? "read" }),
  inAssistants: TYPES_IN_ASSISTANTS.has(type),
});

/** Whether every caller with one access also has the other. */
export const grants = (one: Access, other: Access): boolean =>
  implies(one.rule, other.rule) &&
  (other.permission === undefined || one.permission === other.permission) &&
  (other.inAssistants || !one.inAssistants);

/** @throws UNAUTHENTICATED, FORBIDDEN */
export function admit({ rule, permission, inAssistants }: Access, caller: Caller | undefined): void {
  authorize(rule, caller);
  const limits = caller?.limits;
  // Only a key that names it has this permission: the operator has made it on the command line.
  if (permission === "import" && !limits?.permissions?.includes("import"))
    throw new DomainError(
      "FORBIDDEN",
      lacking(permission, limits?.permissions ?? PERMISSIONS.filter(isGiven)),
    );
  if (!limits) return;
  if (permission !== undefined && limits.permissions && !limits.permissions.includes(permission))
    throw new DomainError("FORBIDDEN", lacking(permission, limits.permissions));
  if (!inAssistants && limits.assistantIds)
    throw new DomainError(
      "FORBIDDEN",
      "This key is limited to certain assistants and cannot access records of the whole organization. Use a key without `assistantIds`.",
    );
}

/** Whether a key without limits has a permission. */
const isGiven = (permission: Permission): boolean => permission !== "import";

/** The message about a missing permission: the permission, those that the key has, and a command that makes a key with all of them. */
function lacking(permission: Permission, own: readonly Permission[]): string {
  const has = own.length === 0 ? "no permission" : own.join(", ");
  const all = [...own, permission];
  const listed = all.filter(isGiven).join(",");
  const options = [
    ...(listed === "" ? [] : [`--permissions ${listed}`]),
    ...(all.includes("import") ? ["--import"] : []),
  ];
  const way = all.includes("import") ? "" : " by POST /rest/v1/organization/keys, or on the server";
  const only = permission === "import" ? ", which only the command line grants" : "";
  return `This key lacks the permission "${permission}"${only}; it has ${has}. Create a key with all of them${way}: \`npm run --silent key:create -- ${options.join(" ")}\`.`;
}

/** Like `admit`, for a nested field: the caller is already authenticated. @throws FORBIDDEN */
export function admitNested(access: Access, caller: Caller | undefined): void {
  try {
    admit(access, caller);
  } catch (error) {
    throw error instanceof DomainError ? new DomainError("FORBIDDEN", error.message) : error;
  }
}
