import { Args, ArgsType, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Lengths } from "../../src/chats/analytics/lengths";
import { AllLogs } from "../../src/chats/logs/all-logs";
import { LENGTH_RULE } from "../analytics/types";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Field, FieldResolver, Query, Root } from "../core/decorators";
import { Channel } from "../core/enums";
import { LogListItem } from "./logs";
import { Rule } from "../core/rules";

@ObjectType({ description: "Entry in the list of all logs.", simpleResolvers: true })
export class LogEntry extends LogListItem {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field({ description: "Status of the chat." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Reason why the chat ended; null while it is live." })
  endedReason!: string | null;
  @Field(() => Int, { description: "Number of messages of all roles." })
  messageCount!: number;
  @Field(() => Int, {
    description:
      "Time from the start to the end, in seconds, including idle time; until now for a live chat.",
  })
  durationSeconds!: number;
}

@InputType({ description: "Conditions for logs; all must hold." })
export class LogFilter {
  @Field(() => ID, { nullable: true, description: "Only chats with this assistant, which may be deleted." })
  assistantId?: string | null;
  @Field(() => Channel, { nullable: true, description: "Only chats on this channel." })
  type?: "VOICE" | "TEXT" | "SMS" | null;
  @Rule({ minimum: 1 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Only chats that this version of the assistant answered, given by its number, from 1; requires assistantId. A chat with a draft counts for the version that the draft changes. deleteLogs refuses this condition.",
  })
  assistantVersion?: number | null;
  @Rule({ maxLength: 1_000 })
  @Field(() => String, {
    nullable: true,
    description:
      "Text to search for, at most 1,000 characters; case-insensitive. It is a part of the label, of a message, of the name or an id of the person, or of a key or value in the metadata supplied by the client.",
  })
  search?: string | null;
  @Field(() => Date, { nullable: true, description: "Only chats started after this time (exclusive)." })
  startedAfter?: Date | null;
  @Field(() => Date, { nullable: true, description: "Only chats started before this time (exclusive)." })
  startedBefore?: Date | null;
}

@ArgsType()
class AllLogsArgs extends ConnectionArgs {
  @Field(() => LogFilter, { nullable: true, description: "Filter. Default: all logs." })
  filter?: LogFilter | null;
}

const LogConnection = ConnectionOf(() => LogEntry, "LogEntry");

@Resolver(() => LogEntry)
export class AllLogsResolver {
  @Query(() => LogConnection, {
    description:
      "Lists the logs of all assistants, including deleted ones, newest first. A search that no index can serve is limited to the newest logs if it does not finish in time: `extensions.warnings` tells their number, and `endCursor` continues the search. Errors: ASSISTANT_NOT_FOUND.",
  })
  logs(@Args() { filter, ...query }: AllLogsArgs, @Ctx() { scope }: Context) {
    return scope.of(AllLogs).list(query, filter ?? {});
  }

  @FieldResolver(() => Int, {
    nullable: true,
    description: `Length without idle time, in seconds; null while the chat is live. ${LENGTH_RULE}`,
  })
  lengthSeconds(@Root() { id }: LogEntry, @Ctx() { scope }: Context) {
    return scope.of(Lengths).of(id);
  }

  @FieldResolver(() => String, { description: "Name of the assistant." })
  async assistantName(@Root() { assistantId }: LogEntry, @Ctx() { scope }: Context) {
    const { name } = await scope.of(Assistants).byIdIncludingDeleted(assistantId);
    return name;
  }
}
