import "reflect-metadata";
import { createPubSub } from "@graphql-yoga/subscription";
import type { GraphQLSchema } from "graphql";
import { buildSchemaSync, getMetadataStorage, type NonEmptyArray } from "type-graphql";
import type { Catalog } from "../src/platform/catalog/load-catalog";
import { AnalyticsResolver } from "./analytics/analytics";
import { AssistantResolver } from "./assistants/assistants";
import { AttachedFileResolver } from "./assistants/attached-files";
import { AuditResolver } from "./audit-events/audit-events";
import { CallResolver } from "./calls/calls";
import { AssistantChatResolver, ChatResolver } from "./chats/chats";
import { AllowedOriginsResolver } from "./configurations/allowed-origins";
import { ConfigurationResolver } from "./configurations/configurations";
import { fillEnums } from "./core/enums";
import { guard } from "./core/guard";
import { DateTime } from "./core/scalars";
import { ChatUserResolver, EndUserResolver } from "./end-users/end-users";
import { DeliveryResolver, DestinationDeliveryResolver, EventResolver } from "./events/events";
import { FileResolver } from "./files/files";
import { FunctionResolver } from "./functions/functions";
import { KeyResolver } from "./keys/keys";
import { AllLogsResolver } from "./logs/all-logs";
import { LogResolver } from "./logs/logs";
import { ModelCredentialResolver } from "./organization/model-credentials";
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
import { WorkflowResolver } from "./workflows/workflows";

const RESOLVERS: NonEmptyArray<new () => object> = [
  AssistantResolver,
  ConfigurationResolver,
  AllowedOriginsResolver,
  LogResolver,
  AllLogsResolver,
  ChatResolver,
  AssistantChatResolver,
  AttachedFileResolver,
  OrganizationResolver,
  AnalyticsResolver,
  KeyResolver,
  WebhookResolver,
  FileResolver,
  ProjectResolver,
  AssistantProjectResolver,
  DestinationProjectResolver,
  EventResolver,
  DeliveryResolver,
  DestinationDeliveryResolver,
  CallResolver,
  TelephonyResolver,
  ModelCredentialResolver,
  FunctionResolver,
  EndUserResolver,
  ChatUserResolver,
  ErasureResolver,
  ExportResolver,
  RetentionResolver,
  WorkflowResolver,
  WorkflowNodeResolver,
  WorkflowEdgeResolver,
  DeploymentResolver,
  ChatWorkflowResolver,
  CallWorkflowResolver,
  WidgetResolver,
  WidgetChatResolver,
  AuditResolver,
];

/** The GraphQL schema, with the catalogue's identifiers as enumerations, guarded. */
export function buildSchema(catalog: Catalog): GraphQLSchema {
  fillEnums(catalog);
  const schema = buildSchemaSync({
    resolvers: RESOLVERS,
    scalarsMap: [{ type: Date, scalar: DateTime }],
    validate: false,
    pubSub: createPubSub(), // type-graphql asks for one; our streams come from the database
  });
  schema.description = DESCRIPTION;
  for (const [name, description] of Object.entries(ROOTS)) schema.getType(name)!.description = description;
  guard(schema);
  rootsAsTheyAre();
  return schema;
}

/** Resolvers get rows as they are: type-graphql would copy a row for each of its fields that has a resolver. */
function rootsAsTheyAre(): void {
  for (const param of getMetadataStorage().params) if (param.kind === "root") param.getType = undefined;
}

const DESCRIPTION = `Assistants that talk with people by voice, text chat and SMS. The credential stands in the header \`X-API-Key\`, or as a token in \`Authorization: Bearer\`.

An error has a stable word in \`extensions.code\`. What an operation refuses also has the \`requestId\` of the server's log and, where values are wrong, each of them in \`details\` by \`path\` and \`message\`. The codes of an operation's own stand in its description. Any may fail with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, RATE_LIMITED, TIMEOUT, UNAVAILABLE or INTERNAL, and a mutation that stores something with QUOTA_EXCEEDED; a document that cannot be read or does not fit this schema with GRAPHQL_PARSE_FAILED or GRAPHQL_VALIDATION_FAILED, variables that do not fit with an error of BAD_USER_INPUT for each, and what is no request with BAD_REQUEST or PAYLOAD_TOO_LARGE.

A request may hold one operation of cost 5,000, 12 levels, 15 aliases and 64 KiB; \`extensions.cost\` of the answer tells its cost, and one that costs more fails with COST_LIMIT.`;

/** type-graphql makes these types itself and takes no description of them. */
const ROOTS = {
  Query: "What can be read.",
  Mutation: "What can be changed.",
  Subscription: "What can be watched, over a WebSocket.",
} as const;
