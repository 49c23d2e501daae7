import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, registerEnumType, Resolver } from "type-graphql";
import { Events } from "../../src/events/events/events";
import { organizationEvents } from "../../src/events/events/organization-events";
import { Deliveries } from "../../src/events/webhooks/deliveries";
import { EVENT_NAMES } from "../../src/platform/database/tables/event-names";
import { missing } from "../../src/platform/errors";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root, Subscription } from "../core/decorators";
import { Channel } from "../core/enums";
import { NotNull, oneOf } from "../core/rules";
import { DateTime, JSONObject } from "../core/scalars";
import { EventsArgs, ReplayEventsInput } from "./inputs";
import { WebhookDestination } from "../webhooks/webhooks";

@ObjectType({
  implements: Node,
  description: "Event of the organization, identical in webhooks, subscriptions and queries.",
  simpleResolvers: true,
})
export class Event {
  @Field(() => ID, { description: "Id of the event, which its deliveries have in the header webhook-id." })
  id!: string;
  @Field({
    description: `Name of the event, which its deliveries have in the header webhook-event: ${oneOf(EVENT_NAMES)}.`,
  })
  name!: string;
  @Field(() => Channel, { description: "Channel of the chat." })
  type!: string;
  @Field(() => ID, { description: "Id of the assistant." })
  companionId!: string;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the chat or call, which its deliveries have in the header webhook-chat-id; null for an event without one.",
  })
  chatId!: string | null;
  @Field(() => JSONObject, {
    description:
      "Body that destinations receive: {event, type, companionId, data}. The header webhook-schema has its version.",
  })
  payload!: Record<string, unknown>;
  @Field({ description: "Time of the event." })
  createdAt!: Date;
}

const DeliveryStatus = { PENDING: "PENDING", DELIVERED: "DELIVERED", FAILED: "FAILED" };
registerEnumType(DeliveryStatus, {
  name: "DeliveryStatus",
  description: "Status of a delivery.",
  valuesConfig: {
    PENDING: { description: "The delivery waits for its first attempt or a retry." },
    DELIVERED: { description: "The destination responded with a 2xx status." },
    FAILED: { description: "The delivery failed and is not retried. Use redeliver to send it again." },
  },
});

@ObjectType({ description: "Attempt of a delivery.", simpleResolvers: true })
export class DeliveryAttempt {
  @Field(() => Int, { description: "Number of the attempt, from 1." })
  number!: number;
  @Field(() => Int, { nullable: true, description: "HTTP status of the response; null if there was none." })
  status!: number | null;
  @Field(() => String, {
    nullable: true,
    description: "Reason why there was no response; null if there was one.",
  })
  error!: string | null;
  @Field(() => String, { nullable: true, description: "First KiB of the response; null if there was none." })
  answer!: string | null;
  @Field(() => DateTime, { description: "Start time." })
  startedAt!: string;
  @Field(() => Int, { description: "Duration in milliseconds." })
  durationMs!: number;
}

@ObjectType({
  implements: Node,
  description:
    "Delivery of an event to a destination, with the headers webhook-event, webhook-schema and, if it belongs to a conversation, webhook-chat-id.",
  simpleResolvers: true,
})
export class Delivery {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => DeliveryStatus, { description: "Status of the delivery." })
  status!: string;
  @Field(() => [DeliveryAttempt], { description: "Attempts, oldest first." })
  attempts!: readonly DeliveryAttempt[];
  @Field({ description: "Creation time." })
  createdAt!: Date;
  eventId!: string;
  destinationId!: string;
  nextAttemptAt!: Date;
}

@ObjectType({ description: "Result of a replay.", simpleResolvers: true })
export class ReplayResult {
  @Field(() => Int, { description: "Number of matching events, at most 10,000." })
  events!: number;
  @Field({ description: "Whether the events were counted without being sent." })
  dryRun!: boolean;
}

@ArgsType()
class DeliveriesArgs extends ConnectionArgs {
  @NotNull
  @Field(() => DeliveryStatus, { nullable: true, description: "Only deliveries with this status." })
  status?: "PENDING" | "DELIVERED" | "FAILED";
}

const EventConnection = ConnectionOf(() => Event, "Event");
const DeliveryConnection = ConnectionOf(() => Delivery, "Delivery");

@Resolver(() => Event)
export class EventResolver {
  @Query(() => EventConnection, { description: "Lists the organization's events, newest first." })
  events(@Args() { filter, ...query }: EventsArgs, @Ctx() { scope }: Context) {
    return scope.of(Events).list(query, filter);
  }

  @Query(() => Event, { description: "Returns an event. Errors: EVENT_NOT_FOUND." })
  async event(
    @Arg("id", () => ID, { description: "Id of the event." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return (await scope.of(Events).byId(id)) ?? missing("Event", id);
  }

  @Query(() => Delivery, {
    description: "Returns a delivery of an event to a webhook destination. Errors: DELIVERY_NOT_FOUND.",
  })
  delivery(
    @Arg("id", () => ID, { description: "Id of the delivery." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deliveries).byId(id);
  }

  @Mutation(() => Delivery, {
    description:
      "Sends the event of a delivery to its destination again. Errors: DELIVERY_NOT_FOUND, WEBHOOK_DESTINATION_DISABLED.",
  })
  redeliver(
    @Arg("deliveryId", () => ID, { description: "Id of the delivery." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deliveries).redeliver(id);
  }

  @Mutation(() => ReplayResult, {
    description:
      "Sends stored events again, in order within each chat: those that the destination has chosen or, if the filter has a name, those of this name. Errors: WEBHOOK_DESTINATION_NOT_FOUND; CHAT_NOT_FOUND or ASSISTANT_NOT_FOUND for an unknown id in the filter; WEBHOOK_DESTINATION_DISABLED unless dryRun is true.",
  })
  async replayEvents(
    @Arg("input", { description: "Events and destination." })
    { destinationId, filter, dryRun = true }: ReplayEventsInput,
    @Ctx() { scope }: Context,
  ) {
    const { id } = await scope.of(WebhookDestinations).byId(destinationId);
    return { events: await scope.of(Deliveries).replay(id, filter ?? {}, dryRun), dryRun };
  }

  @Subscription(() => Event, {
    description:
      "Streams all events of the organization, from now or after the given event. Errors: EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope } = context as Context;
      return organizationEvents(fresh, scope.ports.listener, (args as { after?: string }).after);
    },
  })
  organizationEvents(
    @Root() event: Event,
    @Arg("after", () => ID, {
      nullable: true,
      description: "Id of the last event received. Default: only new events.",
    })
    _after?: string,
  ): Event {
    return event;
  }
}

@Resolver(() => Delivery)
export class DeliveryResolver {
  @FieldResolver(() => Event, { description: "Event to deliver." })
  async event(@Root() { eventId }: Delivery, @Ctx() { scope }: Context) {
    return (await scope.of(Events).byId(eventId)) ?? missing("Event", eventId);
  }

  @FieldResolver(() => WebhookDestination, { description: "Destination of the delivery." })
  destination(@Root() { destinationId }: Delivery, @Ctx() { scope }: Context) {
    return scope.of(WebhookDestinations).byId(destinationId);
  }

  @FieldResolver(() => Date, {
    nullable: true,
    description: "Time of the next attempt; null unless the status is PENDING.",
  })
  nextAttemptAt(@Root() { status, nextAttemptAt }: Delivery) {
    return status === "PENDING" ? nextAttemptAt : null;
  }
}

@Resolver(() => WebhookDestination)
export class DestinationDeliveryResolver {
  @FieldResolver(() => DeliveryConnection, { description: "Deliveries to the destination, newest first." })
  deliveries(
    @Root() { id }: WebhookDestination,
    @Args() { status, ...query }: DeliveriesArgs,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deliveries).ofDestination(id, query, status);
  }

  @Mutation(() => Delivery, {
    description:
      "Sends a sample of the event interaction-status to a destination as a test. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
  })
  testWebhookDestination(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).test(id);
  }

  @Mutation(() => [Delivery], {
    description:
      "Sends a sample of each event that a destination has chosen: the example of the documentation, signed, with the header webhook-sample and without a chat. Errors: WEBHOOK_DESTINATION_NOT_FOUND, WEBHOOK_DESTINATION_DISABLED.",
  })
  sendSampleEvents(
    @Arg("id", () => ID, { description: "Id of the destination." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WebhookDestinations).sendSamples(id);
  }
}
