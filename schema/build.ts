import "reflect-metadata";
import { createPubSub } from "@graphql-yoga/subscription";
import { isAbstractType, type GraphQLSchema } from "graphql";
import { buildSchemaSync, type NonEmptyArray } from "type-graphql";
import type { Catalog } from "../src/platform/catalog/load-catalog";
import { AnalyticsResolver } from "./analytics/analytics";
import { AssistantResolver } from "./assistants/assistants";
import { AttachedFileResolver } from "./assistants/attached-files";
import { AssistantDraftResolver, DraftedAssistantResolver } from "./assistants/drafts";
import { AssistantVersionResolver, VersionedAssistantResolver } from "./assistants/versions";
import { AuditResolver } from "./audit-events/audit-events";
import { CallResolver } from "./calls/calls";
import { AssistantChangeResolver, ChangesResolver, RecordChangeResolver } from "./changes/changes";
import { AssistantChatResolver, ChatResolver } from "./chats/chats";
import { ChatVersionResolver, EventVersionResolver, LogVersionResolver } from "./logs/chat-versions";
import { AllowedOriginsResolver } from "./configurations/allowed-origins";
import { ConfigurationResolver, RagSettingsResolver } from "./configurations/configurations";
import { fillEnums } from "./core/enums";
import { failAlone } from "./core/fail-alone";
import { guard } from "./core/guard";
import { inheritRules } from "./core/inherited-rules/inherited-rules";
import { DateTime } from "./core/scalars";
import { ChatUserResolver, EndUserResolver } from "./end-users/end-users";
import { EventDataResolver } from "./events/event-data";
import { DeliveryResolver, DestinationDeliveryResolver, EventResolver } from "./events/events";
import { FileResolver } from "./files/files";
import { FunctionResolver } from "./functions/functions";
import { ToolServerResolver } from "./functions/tool-servers";
import { KeyResolver } from "./keys/keys";
import { AllLogsResolver } from "./logs/all-logs";
import { LogLengthResolver, LogResolver } from "./logs/logs";
import {
  CallLogResolver,
  ChatLogResolver,
  LogChatResolver,
  LogEntryChatResolver,
  LogListItemChatResolver,
} from "./logs/views";
import { HistoryImportResolver } from "./imports/histories";
import { ImportResolver } from "./imports/imports";
import { NodeResolver } from "./nodes/nodes";
import { ModelCredentialResolver } from "./organization/model-credentials";
import { ModelMappingResolver } from "./organization/model-mappings";
import { OrganizationResolver } from "./organization/organization";
import { RetentionResolver } from "./organization/retention";
import { ErasureResolver } from "./privacy/erasures";
import { ExportResolver } from "./privacy/exports";
import { AssistantProjectResolver, DestinationProjectResolver, ProjectResolver } from "./projects/projects";
import { TelephonyResolver } from "./telephony/telephony";
import { WebhookResolver } from "./webhooks/webhooks";
import { WidgetChatResolver, WidgetResolver } from "./widget/widget";
import { CallWorkflowResolver, ChatWorkflowResolver } from "./workflows/chat-workflow";
import { DeploymentResolver } from "./workflows/deployments";
import { WorkflowEdgeResolver, WorkflowNodeResolver } from "./workflows/graph";
import { WorkflowGraphResolver } from "./workflows/whole-graph";
import { WorkflowResolver } from "./workflows/workflows";

const RESOLVERS: NonEmptyArray<new () => object> = [
  AssistantResolver,
  ConfigurationResolver,
  RagSettingsResolver,
  AllowedOriginsResolver,
  LogResolver,
  LogLengthResolver,
  AllLogsResolver,
  ChatVersionResolver,
  EventVersionResolver,
  LogVersionResolver,
  LogChatResolver,
  LogListItemChatResolver,
  LogEntryChatResolver,
  ChatLogResolver,
  CallLogResolver,
  ChatResolver,
  AssistantChatResolver,
  AttachedFileResolver,
  VersionedAssistantResolver,
  AssistantVersionResolver,
  DraftedAssistantResolver,
  AssistantDraftResolver,
  OrganizationResolver,
  AnalyticsResolver,
  KeyResolver,
  WebhookResolver,
  FileResolver,
  ProjectResolver,
  AssistantProjectResolver,
  DestinationProjectResolver,
  EventResolver,
  EventDataResolver,
  DeliveryResolver,
  DestinationDeliveryResolver,
  CallResolver,
  AssistantChangeResolver,
  ChangesResolver,
  RecordChangeResolver,
  TelephonyResolver,
  ModelCredentialResolver,
  ModelMappingResolver,
  FunctionResolver,
  ToolServerResolver,
  EndUserResolver,
  ChatUserResolver,
  ErasureResolver,
  ExportResolver,
  RetentionResolver,
  WorkflowResolver,
  WorkflowNodeResolver,
  WorkflowEdgeResolver,
  WorkflowGraphResolver,
  DeploymentResolver,
  ChatWorkflowResolver,
  CallWorkflowResolver,
  WidgetResolver,
  WidgetChatResolver,
  AuditResolver,
  ImportResolver,
  HistoryImportResolver,
  NodeResolver,
];

/** Builds the guarded GraphQL schema, with the identifiers of the catalog as enums. */
export function buildSchema(catalog: Catalog): GraphQLSchema {
  fillEnums(catalog);
  const schema = buildSchemaSync({
    resolvers: RESOLVERS,
    scalarsMap: [{ type: Date, scalar: DateTime }],
    validate: false,
    skipCheck: true, // a query of the whole schema at each start; a test makes it
    pubSub: createPubSub(), // required by type-graphql, never used: our streams come from the database
  });
  schema.description = DESCRIPTION;
  for (const [name, description] of Object.entries(ROOTS)) schema.getType(name)!.description = description;
  for (const type of Object.values(schema.getTypeMap()))
    if (isAbstractType(type)) type.resolveType = undefined; // by `__typename`: graphql-jit cannot await type-graphql's way
  failAlone(schema);
  inheritRules(schema);
  guard(schema);
  return schema;
}

const DESCRIPTION = `API for assistants that talk with people by voice, text chat and SMS. Authenticate with an API key in the header \`X-API-Key\` or a token in \`Authorization: Bearer\`.

Every error has a stable code in \`extensions.code\`. Errors of operations also have \`requestId\`, which the server's log contains too, and \`details\` with the \`path\` and \`message\` of each invalid value. The description of an operation lists its own codes. In addition, any operation may fail with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, RATE_LIMITED, TIMEOUT, UNAVAILABLE or INTERNAL, and a mutation that stores data with QUOTA_EXCEEDED. A document with a syntax error fails with GRAPHQL_PARSE_FAILED, one that does not match this schema with GRAPHQL_VALIDATION_FAILED; each invalid variable gives a BAD_USER_INPUT; malformed requests give BAD_REQUEST, oversized ones PAYLOAD_TOO_LARGE.

A document may contain several operations; \`operationName\` chooses the one that runs. Limits per request: cost 5,000, 12 levels, 15 aliases and 64 KiB. \`extensions.cost\` of the response is the cost of the operation; an operation over the cost limit fails with COST_LIMIT.`;

/** Descriptions of the root types, which type-graphql creates without one. */
const ROOTS = {
  Query: "Operations that read data.",
  Mutation: "Operations that change data.",
  Subscription: "Streams of events, over a WebSocket or as Server-Sent Events.",
} as const;
