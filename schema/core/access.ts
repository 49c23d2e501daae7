import type { Caller } from "../../src/account/auth/caller";
import type { Permission } from "../../src/account/auth/limits";
import { DomainError } from "../../src/platform/errors";
import { AUTHORIZATION, authorize, implies, type Rule } from "./authorization";

/** Who may run an operation or read a type: by kind of credential, and by the limits of keys. */
export interface Access {
  readonly rule: Rule;
  /** What a key with permissions needs; undefined: nothing. */
  readonly permission?: Permission;
  /** Whether a key that is limited to assistants may: it is then shown the part of these assistants. */
  readonly inAssistants: boolean;
}

/** Operations that need another permission than `read` for queries and subscriptions and `write` for mutations. */
export const PERMISSION_OF: Readonly<Record<string, Permission>> = {
  placeAssistantCall: "calls",
  placeWorkflowCall: "calls",
  startWebCall: "calls",
  startWidgetCall: "calls",
  cancelCall: "calls",

  issueToken: "keys",
  keys: "keys",
  key: "keys",
  createKey: "keys",
  updateKey: "keys",
  deleteKey: "keys",
  identitySecret: "keys",

  webhookDestinations: "webhooks",
  generateWebhookSecret: "webhooks",
  createWebhookDestination: "webhooks",
  updateWebhookDestination: "webhooks",
  deleteWebhookDestination: "webhooks",
  redeliver: "webhooks",
  replayEvents: "webhooks",
  testWebhookDestination: "webhooks",
};

/** Types that need another permission than `read` where a nested field leads to them. */
const PERMISSION_OF_TYPE: Readonly<Record<string, Permission>> = {
  Delivery: "webhooks",
  DeliveryAttempt: "webhooks",
  IssuedToken: "keys",
  Key: "keys",
  ReplayResult: "webhooks",
  WebhookDestination: "webhooks",
};

/**
 * Operations that a key limited to assistants may run. All others concern records of the whole organization, or make
 * an assistant that the key would not reach.
 */
export const IN_ASSISTANTS: ReadonlySet<string> = new Set([
  ...["assistants", "assistantTemplates", "assistant", "updateAssistant", "deleteAssistant"],
  ...["updateVoiceConfiguration", "updateSmsConfiguration", "updateChatConfiguration"],
  ...["updateThemeConfiguration", "updateRagSettings", "updateAllowedOrigins", "testFunction"],
  ...["startWidgetSession", "widget", "widgetChat", "widgetChats", "startWidgetChat", "postWidgetMessage"],
  ...["updateWidgetChat", "endWidgetChat", "startWidgetCall", "widgetChatEvents"],
  ...["log", "logs", "analytics", "chat", "startChat", "postMessage", "endChat", "chatEvents"],
  ...["organization", "issueToken", "keys", "key", "publicKey", "createKey", "updateKey", "deleteKey"],
  ...["events", "organizationEvents"],
  ...["calls", "call", "placeAssistantCall", "startWebCall", "cancelCall", "callEvents"],
]);

/** Types whose objects a key limited to assistants may read: each belongs to one assistant, to the key or to nobody. */
const TYPES_IN_ASSISTANTS: ReadonlySet<string> = new Set([
  ...["Assistant", "AttachedFile", "ConfigurationWarning", "Deleted", "RagSettings"],
  ...["ChatConfiguration", "SmsConfiguration", "ThemeConfiguration", "VoiceConfiguration"],
  ...["Call", "CallEvent", "Chat", "ChatEvent", "Event", "FunctionTest", "Message"],
  ...["Log", "LogEntry", "LogListItem"],
  ...["Analytics", "AnalyticsAssistant", "AnalyticsBucket", "AnalyticsChannel", "AnalyticsDay"],
  ...["AnalyticsEndReason", "AnalyticsFunction", "AnalyticsLengths", "AnalyticsSummary", "AnswerTimes"],
  ...["DeliveryDay", "FailingDestination", "UnansweredQuestion", "WebhookHealth"],
  ...["IssuedToken", "Key", "Organization"],
  ...["PageInfo", "PageMeta", "WebCall"],
  ...["Widget", "WidgetChat", "WidgetChatEvent", "WidgetMessage", "WidgetSession"],
]);

/** @param changes whether it is a mutation */
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

/** Whether whoever has one access has the other too. */
export const grants = (one: Access, other: Access): boolean =>
  implies(one.rule, other.rule) &&
  (other.permission === undefined || one.permission === other.permission) &&
  (other.inAssistants || !one.inAssistants);

/** @throws UNAUTHENTICATED, FORBIDDEN */
export function admit({ rule, permission, inAssistants }: Access, caller: Caller | undefined): void {
  authorize(rule, caller);
  const limits = caller?.limits;
  if (!limits) return;
  if (permission !== undefined && limits.permissions && !limits.permissions.includes(permission))
    throw new DomainError("FORBIDDEN", `This key may not do this: it lacks the permission ${permission}.`);
  if (!inAssistants && limits.assistantIds)
    throw new DomainError(
      "FORBIDDEN",
      "This key is limited to assistants: it reaches no records of the whole organization.",
    );
}

/** As `admit`, for a field below the root: whoever got there has a credential. @throws FORBIDDEN */
export function admitNested(access: Access, caller: Caller | undefined): void {
  try {
    admit(access, caller);
  } catch (error) {
    throw error instanceof DomainError ? new DomainError("FORBIDDEN", error.message) : error;
  }
}
