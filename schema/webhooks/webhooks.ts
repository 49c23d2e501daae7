import { Arg, Args, ArgsType, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import { newWebhookSecret } from "../../src/events/webhooks/signatures";
import { DEFAULT_EVENTS, EVENT_NAMES, type EventName } from "../../src/platform/database/tables/event-names";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, Mutation, Query } from "../core/decorators";
import { Extension, oneOf, Rule } from "../core/rules";

/** Events of a destination without a choice. */
const DEFAULTS = DEFAULT_EVENTS.join(", ");

@ObjectType({
  implements: Node,
  description: "Webhook destination: a URL that receives signed events.",
  simpleResolvers: true,
})
export class WebhookDestination {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "An http or https URL that receives the events by POST." })
  url!: string;
  @Field(() => String, { nullable: true, description: "Name; null if none was given." })
  name!: string | null;
  @Field({
    description:
      "Signing secret. The header x-signature is the HMAC-SHA-256 of the body with this secret as the key.",
  })
  secret!: string;
  @Field({ description: "Whether events are sent to the destination." })
  enabled!: boolean;
  @Extension
  @Field(() => [String], {
    nullable: true,
    description: `Names of the events that are sent to the destination; null: ${DEFAULTS}.`,
  })
  events!: readonly EventName[] | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the destination in files of the command `parley`, unique among the organization's webhook destinations; null if it has none.",
  })
  key!: string | null;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
  projectId!: string | null;
}

@InputType({
  description:
    "Changes to a webhook destination. Omitted fields stay unchanged; null clears the name, the key, the project or the choice of events.",
})
export class UpdateWebhookDestinationInput {
  @Rule({ minLength: 1, maxLength: 2048, format: "uri", nullable: false })
  @Field({
    nullable: true,
    description: "An http or https URL without user name and password, at most 2,048 characters.",
  })
  url?: string;
  @Rule({ minLength: 1, maxLength: 4096, nullable: false })
  @Field({ nullable: true, description: "Signing secret, 1 to 4,096 characters." })
  secret?: string;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { nullable: true, description: "Name, 1 to 255 characters." })
  name?: string | null;
  @Rule({ minLength: 1, maxLength: 100, format: "key" })
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the destination in files of the command `parley`, 1 to 100 characters: lowercase letters, digits, ., _ and -, beginning with a letter or digit. Unique among the organization's webhook destinations: CONFLICT if another one has it.",
  })
  key?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the project whose events are sent to the destination. Default: none; it gets those of the organization.",
  })
  projectId?: string | null;
  @Rule({ maxItems: 100, enum: EVENT_NAMES, "x-extension": true })
  @Field(() => [String], {
    nullable: true,
    description: `Names of the events to send, each ${oneOf(EVENT_NAMES)}. Default, also of an empty list: ${DEFAULTS}.`,
  })
  events?: readonly EventName[] | null;
}

@InputType({ description: "New webhook destination." })
export class CreateWebhookDestinationInput extends UpdateWebhookDestinationInput {
  @Rule({ minLength: 1, maxLength: 2048, format: "uri" })
  @Field({ description: "An http or https URL without user name and password, at most 2,048 characters." })
  declare url: string;
  @Rule({ minLength: 1, maxLength: 4096 })
  @Field({
    description: "Signing secret, 1 to 4,096 characters. generateWebhookSecret returns a suitable one.",
  })
  declare secret: string;
}

const WebhookDestinationConnection = ConnectionOf(() => WebhookDestination, "WebhookDestination");

@ArgsType()
class DestinationsArgs extends ConnectionArgs {
  @Field(() => ID, {
    nullable: true,
    description: "Id of the project. Default: none; lists the destinations of the organization itself.",
  })
  projectId?: string | null;
}

@Resolver()
export class WebhookResolver {
  @Query(() => [WebhookDestination], {
    description:
      "Lists the webhook destinations of a project or of the organization itself, newest first. Errors: if projectId is unknown, PROJECT_NOT_FOUND.",
  })
  webhookDestinations(
    @Arg("projectId", () => ID, {
      nullable: true,
      description: "Id of the project. Default: none; lists the destinations of the organization itself.",
    })
    projectId: string | null,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).list(projectId ?? null);
  }

  @Query(() => WebhookDestinationConnection, {
    description:
      "Lists the webhook destinations of a project or of the organization itself, in pages. Errors: if projectId is unknown, PROJECT_NOT_FOUND.",
  })
  webhookDestinationsConnection(
    @Args() { projectId, ...query }: DestinationsArgs,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).connection(query, projectId ?? null);
  }

  @Query(() => WebhookDestination, {
    description: "Returns a webhook destination. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  webhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).byId(id);
  }

  @Mutation(() => String, {
    description: "Generates a random signing secret. It is not stored until it is used for a destination.",
  })
  generateWebhookSecret() {
    return newWebhookSecret();
  }

  @Mutation(() => WebhookDestination, {
    description: "Creates a webhook destination. Errors: if projectId is unknown, PROJECT_NOT_FOUND.",
  })
  createWebhookDestination(
    @Arg("input", { description: "The new destination." }) input: CreateWebhookDestinationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).create(input);
  }

  @Mutation(() => WebhookDestination, {
    description:
      "Updates a webhook destination and enables it again, unless only its key changes. Errors: WEBHOOK_DESTINATION_NOT_FOUND; PROJECT_NOT_FOUND if projectId is unknown.",
  })
  updateWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateWebhookDestinationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).update(id, input);
  }

  @Mutation(() => WebhookDestination, {
    description:
      "Deletes a webhook destination and returns it. Its deliveries are no longer shown, and a job removes them. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  deleteWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).remove(id);
  }
}
