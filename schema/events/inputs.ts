import { ArgsType, ID, InputType } from "type-graphql";
import { EVENT_NAMES, type EventName } from "../../src/platform/database/tables/event-names";
import { ConnectionArgs } from "../core/connection";
import { Field } from "../core/decorators";
import { NotNull, oneOf, Rule } from "../core/rules";

@InputType({ description: "Conditions for events; all must hold." })
export class EventFilter {
  @Rule({ nullable: false, enum: EVENT_NAMES })
  @Field(() => String, { nullable: true, description: `Only events with this name: ${oneOf(EVENT_NAMES)}.` })
  name?: EventName;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only events of this chat." })
  chatId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only events of this assistant." })
  assistantId?: string;
  @NotNull
  @Field({ nullable: true, description: "Only events after this time (exclusive)." })
  createdAfter?: Date;
  @NotNull
  @Field({ nullable: true, description: "Only events before this time (exclusive)." })
  createdBefore?: Date;
}

@InputType({ description: "Events to send again, and their destination." })
export class ReplayEventsInput {
  @Field(() => ID, { description: "Id of the destination." })
  destinationId!: string;
  @NotNull
  @Field(() => EventFilter, {
    nullable: true,
    description: "Filter. Default: all events. Of the matching events, only the first 10,000 are sent.",
  })
  filter?: EventFilter;
  @NotNull
  @Field({
    nullable: true,
    defaultValue: true,
    description: "Whether to count the events without sending them. Default: true.",
  })
  dryRun?: boolean;
}

@ArgsType()
export class EventsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => EventFilter, { nullable: true, description: "Filter. Default: all events." })
  filter?: EventFilter;
}
