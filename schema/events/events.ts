import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
import { Events } from "../../src/events/events/events";
import { organizationEvents } from "../../src/events/events/organization-events";
import { Deliveries } from "../../src/events/webhooks/deliveries";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Channel } from "../core/enums";
import { NotNull } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { WebhookDestination } from "../webhooks/webhooks";

@ObjectType({
  description: "One thing that happened: the same in webhooks, in subscriptions and here.",
  simpleResolvers: true,
})
export class Event {
  @Field(() => ID, { description: "The header webhook-id of its deliveries." })
  id!: string;
  @Field({
    description:
      "status-changed, conversation-updated, function-call, session-start, session-end, interaction-status or call-recording.",
  })
  name!: string;
  @Field(() => Channel, { description: "How the chat is held." })
  type!: string;
  @Field(() => ID, { description: "The assistant." })
  companionId!: string;
  @Field(() => ID, { nullable: true, description: "The chat." })
  chatId!: string | null;
  @Field(() => JSONObject, { description: "What destinations are sent: {event, type, companionId, data}." })
  payload!: Record<string, unknown>;
  @Field({ description: "When it happened." })
  createdAt!: Date;
}

const DeliveryStatus = { PENDING: "PENDING", DELIVERED: "DELIVERED", FAILED: "FAILED" };
registerEnumType(DeliveryStatus, {
  name: "DeliveryStatus",
  description: "How far a delivery has come.",
  valuesConfig: {
    PENDING: { description: "It is to be tried, or tried again." },
    DELIVERED: { description: "The receiver answered with 2xx." },
    FAILED: { description: "It was given up; it can be sent again." },
  },
});

@ObjectType({ description: "One try of a delivery.", simpleResolvers: true })
export class DeliveryAttempt {
  @Field(() => Int, { description: "From 1." })
  number!: number;
  @Field(() => Int, { nullable: true, description: "The receiver's HTTP status." })
  status!: number | null;
  @Field(() => String, { nullable: true, description: "Why there was no answer." })
  error!: string | null;
  @Field(() => String, { nullable: true, description: "The first KiB of the answer." })
  answer!: string | null;
  @Field({ description: "When it began, ISO 8601." })
  startedAt!: string;
  @Field(() => Int, { description: "How long it took, in milliseconds." })
  durationMs!: number;
}

@ObjectType({ description: "An event on its way to a destination.", simpleResolvers: true })
export class Delivery {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => DeliveryStatus, { description: "How far it has come." })
  status!: string;
  @Field(() => [DeliveryAttempt], { description: "Its tries, the first one first." })
  attempts!: DeliveryAttempt[];
  @Field({ description: "When it was made." })
  createdAt!: Date;
  eventId!: string;
  destinationId!: string;
  nextAttemptAt!: Date;
}

@InputType({ description: "Which events are wanted." })
export class EventFilter {
  @NotNull
  @Field({ nullable: true, description: "With this name." })
  name?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Of this chat." })
  chatId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Of this assistant." })
  assistantId?: string;
  @NotNull
  @Field({ nullable: true, description: "After this moment." })
  createdAfter?: Date;
  @NotNull
  @Field({ nullable: true, description: "Before this moment." })
  createdBefore?: Date;
}

@InputType({ description: "Events to send once more." })
export class ReplayEventsInput {
  @Field(() => ID, { description: "Where to." })
  destinationId!: string;
  @NotNull
  @Field(() => EventFilter, { nullable: true, description: "Which ones; all without it, at most 10,000." })
  filter?: EventFilter;
  @NotNull
  @Field({ nullable: true, defaultValue: true, description: "Only count them; true without it." })
  dryRun?: boolean;
}

@ObjectType({ description: "What a replay came to.", simpleResolvers: true })
export class ReplayResult {
  @Field(() => Int, { description: "How many events were found." })
  events!: number;
  @Field({ description: "Whether they were only counted." })
  dryRun!: boolean;
}

@ArgsType()
class EventsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => EventFilter, { nullable: true, description: "Which events are wanted; all without it." })
  filter?: EventFilter;
}

@ArgsType()
class DeliveriesArgs extends ConnectionArgs {
  @NotNull
  @Field(() => DeliveryStatus, { nullable: true, description: "Only those that have come this far." })
  status?: "PENDING" | "DELIVERED" | "FAILED";
}

const EventConnection = ConnectionOf(() => Event, "Event");
const DeliveryConnection = ConnectionOf(() => Delivery, "Delivery");

@Resolver(() => Event)
export class EventResolver {
  @Query(() => EventConnection, { description: "The ledger of what happened, the newest first." })
  events(@Args() { filter, ...query }: EventsArgs, @Ctx() { scope }: Context) {
    return scope.of(Events).list(query, filter);
  }

  @Mutation(() => Delivery, {
    description: "Sends an event once more to the destination of a delivery. Errors: DELIVERY_NOT_FOUND.",
  })
  redeliver(
    @Arg("deliveryId", () => ID, { description: "Id of the delivery." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deliveries).redeliver(id);
  }

  @Mutation(() => ReplayResult, {
    description:
      "Sends stored events again, in order within each chat. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  async replayEvents(
    @Arg("input", { description: "Which events, and where to." })
    { destinationId, filter, dryRun = true }: ReplayEventsInput,
    @Ctx() { scope }: Context,
  ) {
    const { id } = await scope.of(WebhookDestinations).byId(destinationId);
    return { events: await scope.of(Deliveries).replay(id, filter ?? {}, dryRun), dryRun };
  }

  @Subscription(() => Event, {
    description:
      "Everything that happens in the organization, from now on or behind an event. Errors: EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope } = context as Context;
      return organizationEvents(fresh, scope.ports.listener, (args as { after?: string }).after);
    },
  })
  organizationEvents(
    @Root() event: Event,
    @Arg("after", () => ID, { nullable: true, description: "Id of the last event that was seen." })
    _after?: string,
  ): Event {
    return event;
  }
}

@Resolver(() => Delivery)
export class DeliveryResolver {
  @FieldResolver(() => Event, { description: "What is sent." })
  event(@Root() { eventId }: Delivery, @Ctx() { scope }: Context) {
    return scope.of(Events).byId(eventId);
  }

  @FieldResolver(() => WebhookDestination, { description: "Where to." })
  destination(@Root() { destinationId }: Delivery, @Ctx() { scope }: Context) {
    return scope.of(WebhookDestinations).byId(destinationId);
  }

  @FieldResolver(() => Date, { nullable: true, description: "When it is tried next; null when it is over." })
  nextAttemptAt(@Root() { status, nextAttemptAt }: Delivery) {
    return status === "PENDING" ? nextAttemptAt : null;
  }
}

@Resolver(() => WebhookDestination)
export class DestinationDeliveryResolver {
  @FieldResolver(() => DeliveryConnection, { description: "What is or was sent there, the newest first." })
  deliveries(
    @Root() { id }: WebhookDestination,
    @Args() { status, ...query }: DeliveriesArgs,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deliveries).ofDestination(id, query, status);
  }

  @Mutation(() => Delivery, {
    description:
      "Sends a harmless interaction-status event to a destination. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  testWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).test(id);
  }
}
