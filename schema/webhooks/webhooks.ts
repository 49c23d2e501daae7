import { Arg, Ctx, Field, ID, InputType, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { newWebhookSecret, WebhookDestinations } from "../../src/events/webhooks/destinations";
import type { Context } from "../core/context";
import { Rule } from "../core/rules";

@ObjectType({ description: "A place that events are sent to, signed.", simpleResolvers: true })
export class WebhookDestination {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "An http or https URL that takes the events by POST." })
  url!: string;
  @Field(() => String, { nullable: true, description: "What it is called." })
  name!: string | null;
  @Field({ description: "Signs what is sent: x-signature is the HMAC with SHA-256 of the body under it." })
  secret!: string;
  @Field({ description: "Whether events are sent there now." })
  enabled!: boolean;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
  projectId!: string | null;
}

@InputType({ description: "A new webhook destination." })
export class CreateWebhookDestinationInput {
  @Rule({ minLength: 1, maxLength: 2048, format: "uri" })
  @Field({ description: "An http or https URL, without user name and password; at most 2048 characters." })
  url!: string;
  @Rule({ minLength: 1, maxLength: 4096 })
  @Field({ description: "Signing secret, 1 to 4,096 characters; generateWebhookSecret makes a good one." })
  secret!: string;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { nullable: true, description: "What it is called, 1 to 255 characters." })
  name?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "The project whose events it gets; without one the organization's.",
  })
  projectId?: string | null;
}

@InputType({
  description:
    "Changes to a webhook destination. What is left out stays; null clears the name or the project.",
})
export class UpdateWebhookDestinationInput {
  @Rule({ minLength: 1, maxLength: 2048, format: "uri", nullable: false })
  @Field({
    nullable: true,
    description: "An http or https URL, without user name and password; at most 2048 characters.",
  })
  url?: string;
  @Rule({ minLength: 1, maxLength: 4096, nullable: false })
  @Field({ nullable: true, description: "Signing secret, 1 to 4,096 characters." })
  secret?: string;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { nullable: true, description: "What it is called, 1 to 255 characters." })
  name?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "The project whose events it gets; without one the organization's.",
  })
  projectId?: string | null;
}

@Resolver()
export class WebhookResolver {
  @Query(() => [WebhookDestination], {
    description:
      "Webhook destinations, the newest first: those of a project, or those of the organization itself. Errors: for an unknown project PROJECT_NOT_FOUND.",
  })
  webhookDestinations(
    @Arg("projectId", () => ID, { nullable: true, description: "Id of the project." })
    projectId: string | null,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).list(projectId ?? null);
  }

  @Mutation(() => String, {
    description: "Makes a random signing secret. Nothing is stored until it is used.",
  })
  generateWebhookSecret() {
    return newWebhookSecret();
  }

  @Mutation(() => WebhookDestination, {
    description: "Adds a webhook destination. Errors: for an unknown project PROJECT_NOT_FOUND.",
  })
  createWebhookDestination(
    @Arg("input", { description: "The new destination." }) input: CreateWebhookDestinationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).create(input);
  }

  @Mutation(() => WebhookDestination, {
    description:
      "Changes a webhook destination, and switches it on again. Errors: WEBHOOK_DESTINATION_NOT_FOUND; for an unknown project PROJECT_NOT_FOUND.",
  })
  updateWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateWebhookDestinationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).update(id, input);
  }

  @Mutation(() => WebhookDestination, {
    description: "Deletes a webhook destination and returns it. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  deleteWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).remove(id);
  }
}
