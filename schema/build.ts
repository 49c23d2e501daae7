import "reflect-metadata";
import { createPubSub } from "@graphql-yoga/subscription";
import type { GraphQLSchema } from "graphql";
import { buildSchemaSync } from "type-graphql";
import type { Catalog } from "../src/catalog/load-catalog";
import { AssistantResolver } from "./assistants";
import { AssistantChatResolver, ChatResolver } from "./chats";
import { ConfigurationResolver } from "./configurations";
import { ConversationResolver, EndUserResolver } from "./conversation";
import { fillEnums } from "./enums";
import { DeliveryResolver, DestinationDeliveryResolver, EventResolver } from "./events";
import { FileResolver } from "./files";
import { guard } from "./guard";
import { KeyResolver } from "./keys";
import { LogResolver } from "./logs";
import { OrganizationResolver } from "./organization";
import { AssistantProjectResolver, DestinationProjectResolver, ProjectResolver } from "./projects";
import { DateTime } from "./scalars";
import { WebhookResolver } from "./webhooks";

/** The GraphQL schema, with the catalogue's identifiers as enumerations, guarded. */
export function buildSchema(catalog: Catalog): GraphQLSchema {
  fillEnums(catalog);
  const schema = buildSchemaSync({
    resolvers: [
      AssistantResolver,
      ConfigurationResolver,
      LogResolver,
      ChatResolver,
      AssistantChatResolver,
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
      ConversationResolver,
      EndUserResolver,
    ],
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
