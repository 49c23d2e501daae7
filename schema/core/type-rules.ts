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
 * Who may read the objects of each type through a nested field. A type without a row stops the start; pages and
 * connections have the rule of what they hold.
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
  Chat: "organization",
  ChatEvent: "organization",
  Delivery: "organization",
  DeliveryAttempt: "organization",
  Deployment: "organization",
  EndUser: "organization",
  EndUserExport: "organization",
  EndUserFact: "organization",
  Event: "organization",
  ForgetReceipt: "organization",
  FunctionTest: "organization",
  IssuedToken: "organization",
  Key: "organization",
  ModelCredential: "organization",
  PendingRetention: "organization",
  Project: "organization",
  RagSettings: "organization",
  ReplayResult: "organization",
  Retention: "organization",
  TelephonyConnection: "organization",
  Workflow: "organization",
  WorkflowEdge: "organization",
  WorkflowNode: "organization",
  WorkflowProblem: "organization",

  WebhookDestination: "settings",

  File: "key",
  FileDownload: "key",

  WidgetChat: "visitor",
  WidgetChatEvent: "visitor",
  WidgetMessage: "visitor",

  // Nothing by themselves, or made for the caller by the root field.
  PageInfo: "anyone",
  PageMeta: "anyone",
  WebCall: "anyone",
  Widget: "anyone",
  WidgetSession: "page",
};

/** Of a page, a connection or an edge: the field that holds its records. */
const HELD = { Connection: "nodes", Edge: "node", Page: "data" } as const;

/** The type of the records that a page, a connection or an edge holds; any other type is its own. */
export function contentOf(type: GraphQLNamedType): GraphQLNamedType {
  const [, suffix] = /^[A-Z]\w*(Connection|Edge|Page)$/.exec(type.name) ?? [];
  const held = isObjectType(type) && suffix && type.getFields()[HELD[suffix as keyof typeof HELD]];
  return held ? getNamedType(held.type) : type;
}

type Field = GraphQLField<unknown, unknown>;

/**
 * The fields below the roots that lead somebody who may read their type to what that caller may not read, each with
 * the access to check. All others need no check: whoever got so far may go on.
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
      for (const type of reached(schema, field))
        readers.get(type.name)?.push(accessOf(field.name, root === schema.getMutationType()));
  const checked = new Map<Field, readonly Access[]>();
  for (const type of types)
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      const needed = isLeafType(named) ? [] : accessesOf(schema, named);
      const isOpen = needed.every((access) =>
        readers.get(type.name)!.every((reader) => grants(reader, access)),
      );
      if (!isOpen) checked.set(field, needed);
    }
  return checked;
}

export const rootsOf = (schema: GraphQLSchema): GraphQLObjectType[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((type) => !!type);

/** The object types that a field may answer with; of a page or a connection also what it holds. */
function reached(schema: GraphQLSchema, { type }: Field): readonly GraphQLNamedType[] {
  const named = getNamedType(type);
  if (isLeafType(named)) return [];
  const content = contentOf(named);
  const own = isAbstractType(content) ? schema.getPossibleTypes(content) : [content];
  return content === named ? own : [named, ...own];
}

/** Who may read a type; of an abstract one, and of what holds its records, each type that it may be. */
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
      `The rules of types lack ${without.join(", ") || "nothing"} and name the unknown ${stale.join(", ") || "nothing"}.`,
    );
}
