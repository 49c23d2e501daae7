import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from "graphql";
import { accessOf, accessOfType, grants, type Access } from "./access";
import type { Rule } from "./authorization";

/**
 * Rule for reading the objects of each type through a nested field. A type without a row prevents startup; pages and
 * connections have the rule of the records that they hold.
 */
export const TYPES: Readonly<Record<string, Rule>> = {
  Assistant: "data",
  ChatConfiguration: "data",
  ConfigurationWarning: "data",
  Deleted: "data",
  LogListItem: "data",
  Message: "data",
  Organization: "data",
  SmsConfiguration: "data",
  ThemeConfiguration: "data",
  VoiceConfiguration: "data",

  Log: "transcript",

  Analytics: "analytics",
  AnalyticsAssistant: "analytics",
  AnalyticsBucket: "analytics",
  AnalyticsChannel: "analytics",
  AnalyticsDay: "analytics",
  AnalyticsEndReason: "analytics",
  AnalyticsFunction: "analytics",
  AnalyticsLengths: "analytics",
  AnalyticsSummary: "analytics",
  AnalyticsToken: "analytics",
  AnswerTimes: "analytics",
  DeliveryDay: "analytics",
  FailingDestination: "analytics",
  LogEntry: "analytics",
  UnansweredQuestion: "analytics",
  WebhookHealth: "analytics",

  AttachedFile: "organization",
  AuditEvent: "organization",
  AuditField: "organization",
  AuditHead: "organization",
  Call: "organization",
  CallEvent: "organization",
  CallRecordingData: "organization",
  Chat: "organization",
  ChatEvent: "organization",
  ConversationUpdatedData: "organization",
  AssistantChange: "organization",
  AssistantDraft: "organization",
  AssistantVersion: "organization",
  DocumentChange: "organization",
  ToolServer: "organization",
  ToolServerTest: "organization",
  ListedTool: "organization",
  RecordChange: "organization",
  Delivery: "organization",
  DeliveryAttempt: "organization",
  Deployment: "organization",
  EndUser: "organization",
  EndUserExport: "organization",
  EndUserFact: "organization",
  Event: "organization",
  EventMessage: "organization",
  ForgetReceipt: "organization",
  FunctionCallData: "organization",
  FunctionTest: "organization",
  InteractionStatusData: "organization",
  IssuedToken: "organization",
  Key: "organization",
  ModelCredential: "organization",
  ModelMapping: "organization",
  ModelTest: "organization",
  PendingRetention: "organization",
  Project: "organization",
  RagSettings: "organization",
  ReplayResult: "organization",
  Retention: "organization",
  SessionEndData: "organization",
  SessionStartData: "organization",
  StatusChangedData: "organization",
  TelephonyConnection: "organization",
  Workflow: "organization",
  WorkflowEdge: "organization",
  WorkflowNode: "organization",
  VariableUse: "organization",
  WorkflowProblem: "organization",

  WebhookDestination: "settings",

  File: "key",
  FileDownload: "key",
  FactImport: "key",
  LogImport: "key",
  VersionImport: "key",

  WidgetChat: "visitor",
  WidgetChatEvent: "visitor",
  WidgetMessage: "visitor",

  // Types without data of their own, or created for the caller by the root field.
  PageInfo: "anyone",
  PageMeta: "anyone",
  WebCall: "anyone",
  Widget: "anyone",
  WidgetSession: "page",
};

/** Field that holds the records of a connection, an edge or a page. */
const RECORD_FIELD = { Connection: "nodes", Edge: "node", Page: "data" } as const;

/** Type of the records in a page, connection or edge; for any other type, the type itself. */
export function contentOf(type: GraphQLNamedType): GraphQLNamedType {
  const [, suffix] = /^[A-Z]\w*(Connection|Edge|Page)$/.exec(type.name) ?? [];
  const held =
    isObjectType(type) && suffix && type.getFields()[RECORD_FIELD[suffix as keyof typeof RECORD_FIELD]];
  return held ? getNamedType(held.type) : type;
}

type Field = GraphQLField<unknown, unknown>;

/**
 * Nested fields that may lead a caller from a type that it may read to one that it may not, with the access to check.
 * All other fields need no check: every caller that can read their type may read them.
 * @throws Error that names an object type without a row, or a row without a type
 */
export function nestedAccess(schema: GraphQLSchema): Map<Field, readonly Access[]> {
  const roots = rootsOf(schema);
  const types = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType =>
      isObjectType(type) && !type.name.startsWith("__") && !roots.includes(type),
  );
  requireRows(types);
  const readers = new Map(types.map((type) => [type.name, accessesOf(schema, type)]));
  for (const root of roots)
    for (const field of Object.values(root.getFields()))
      for (const type of reachableTypes(schema, field))
        readers.get(type.name)?.push(accessOf(field.name, root === schema.getMutationType()));
  const checked = new Map<Field, readonly Access[]>();
  for (const type of types)
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      // An object of the same type, such as the reply to a message, is read by whoever may read its parent.
      const isFree = isLeafType(named) || admitsByRecord(named) || contentOf(named) === type;
      const needed = isFree ? [] : accessesOf(schema, named);
      const isOpen = needed.every((access) =>
        readers.get(type.name)!.every((reader) => grants(reader, access)),
      );
      if (!isOpen) checked.set(field, needed);
    }
  return checked;
}

export const rootsOf = (schema: GraphQLSchema): GraphQLObjectType[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((type) => !!type);

/** Whether fields of a type admit a caller to each record as the root field of the record's type does. */
const admitsByRecord = ({ name }: GraphQLNamedType): boolean => name === "Node";

/** Object types that a field may return; for a page or connection also the types of its records. */
function reachableTypes(schema: GraphQLSchema, { type }: Field): readonly GraphQLNamedType[] {
  const named = getNamedType(type);
  if (isLeafType(named) || admitsByRecord(named)) return [];
  const content = contentOf(named);
  const own = isAbstractType(content) ? schema.getPossibleTypes(content) : [content];
  return content === named ? own : [named, ...own];
}

/** Access to a type: for an interface or union, of each possible type; for a page or connection, of its records. */
function accessesOf(schema: GraphQLSchema, type: GraphQLNamedType): Access[] {
  const content = contentOf(type);
  const types = isAbstractType(content) ? schema.getPossibleTypes(content) : [content];
  return types.map(({ name }) => accessOfType(name, TYPES[name]!));
}

function requireRows(types: readonly GraphQLObjectType[]): void {
  const names = types.filter((type) => contentOf(type) === type).map(({ name }) => name);
  const without = names.filter((name) => !(name in TYPES));
  const stale = Object.keys(TYPES).filter((name) => !names.includes(name));
  if (without.length > 0 || stale.length > 0)
    throw new Error(
      `TYPES in schema/core/type-rules.ts does not match the schema. Missing: ${without.join(", ") || "none"}. Unknown: ${stale.join(", ") || "none"}.`,
    );
}
