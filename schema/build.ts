import "reflect-metadata";
import { createPubSub } from "@graphql-yoga/subscription";
import type { GraphQLSchema } from "graphql";
import { buildSchemaSync } from "type-graphql";
import type { Catalog } from "../src/catalog/load-catalog";
import { AssistantResolver } from "./assistants";
import { AssistantChatResolver, ChatResolver } from "./chats";
import { ConfigurationResolver } from "./configurations";
import { fillEnums } from "./enums";
import { FileResolver } from "./files";
import { guard } from "./guard";
import { KeyResolver } from "./keys";
import { LogResolver } from "./logs";
import { OrganizationResolver } from "./organization";
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
    ],
    scalarsMap: [{ type: Date, scalar: DateTime }],
    validate: false,
    pubSub: createPubSub(), // type-graphql asks for one; our streams come from the database
  });
  guard(schema);
  return schema;
}
