import "reflect-metadata";
import { createPubSub } from "@graphql-yoga/subscription";
import type { GraphQLSchema } from "graphql";
import { buildSchemaSync, type NonEmptyArray } from "type-graphql";
import type { Catalog } from "../src/catalog/load-catalog";
import { AllowedOriginsResolver } from "./allowed-origins";
import { AssistantResolver } from "./assistants";
import { AttachedFileResolver } from "./attached-files";
import { CallResolver } from "./calls";
import { CallWorkflowResolver, ChatWorkflowResolver } from "./chat-workflow";
import { AssistantChatResolver, ChatResolver } from "./chats";
import { ConfigurationResolver } from "./configurations";
import { ChatUserResolver, ConversationResolver, EndUserResolver } from "./conversation";
import { DeploymentResolver } from "./deployments";
import { fillEnums } from "./enums";
import { DeliveryResolver, DestinationDeliveryResolver, EventResolver } from "./events";
import { FileResolver } from "./files";
import { guard } from "./guard";
import { KeyResolver } from "./keys";
import { LogResolver } from "./logs";
import { OrganizationResolver } from "./organization";
import { AssistantProjectResolver, DestinationProjectResolver, ProjectResolver } from "./projects";
import { DateTime } from "./scalars";
import { TelephonyResolver } from "./telephony";
import { WebhookResolver } from "./webhooks";
import { WidgetChatResolver, WidgetResolver } from "./widget";
import { WorkflowEdgeResolver, WorkflowNodeResolver } from "./workflow-graph";
import { WorkflowResolver } from "./workflows";

const RESOLVERS: NonEmptyArray<new () => object> = [
  AssistantResolver,
  ConfigurationResolver,
  AllowedOriginsResolver,
  LogResolver,
  ChatResolver,
  AssistantChatResolver,
  AttachedFileResolver,
  OrganizationResolver,
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
  ConversationResolver,
  EndUserResolver,
  ChatUserResolver,
  WorkflowResolver,
  WorkflowNodeResolver,
  WorkflowEdgeResolver,
  DeploymentResolver,
  ChatWorkflowResolver,
  CallWorkflowResolver,
  WidgetResolver,
  WidgetChatResolver,
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
  for (const [name, description] of Object.entries(ROOTS)) schema.getType(name)!.description = description;
  guard(schema);
  return schema;
}

/** type-graphql makes these types itself and takes no description of them. */
const ROOTS = {
  Query: "What can be read.",
  Mutation: "What can be changed.",
  Subscription: "What can be watched, over a WebSocket.",
} as const;
