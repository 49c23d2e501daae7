import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Lengths } from "../../src/chats/analytics/lengths";
import { Logs } from "../../src/chats/logs/logs";
import type { JsonObject } from "../../src/platform/json/json-object";
import { LENGTH_RULE } from "../analytics/types";
import { Assistant } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Field, FieldResolver, Query, Root } from "../core/decorators";
import { Channel } from "../core/enums";
import { PageArgs } from "../core/page";
import { NeedsOnlyId } from "../core/read-ahead";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

@ObjectType({ description: "Entry in a list of logs.", simpleResolvers: true })
export class LogListItem {
  @Field(() => ID, { description: "Id of the log and of its chat." })
  id!: string;
  @Field(() => Channel, { description: "Channel of the chat." })
  type!: string;
  @Field({
    description: "Name or telephone number of the end user, else the first words of the conversation.",
  })
  label!: string;
  @Field({ description: "Start time of the chat." })
  createdAt!: Date;
}

@ObjectType({ description: "Log of a chat: its messages and metadata.", simpleResolvers: true })
export class Log {
  @Field(() => ID, { description: "Id of the log and of its chat." })
  id!: string;
  @Field(() => Channel, { description: "Channel of the chat." })
  type!: string;
  @Field({ description: "URL of the recording; an empty string if there is none." })
  recordingUrl!: string;
  @Field(() => JSONObject, {
    description:
      "Messages: {items: [{id, sequence, role, channel, content, metadata, toolCallId, toolCalls, createdAt}]}, oldest first; fields without a value are absent.",
  })
  messages!: JsonObject;
  @Field(() => JSONObject, {
    description:
      "Facts about the chat: status, startedAt, endedAt, endedReason, durationSeconds, phoneNumber, messageCount, errors; fields without a value are absent.",
  })
  metadata!: JsonObject;
  @Field(() => JSONObject, { description: "Metadata supplied by the client." })
  customerMetadata!: JsonObject;
  @Field({ description: "Start time of the chat." })
  createdAt!: Date;
}

@ArgsType()
class LogsArgs extends PageArgs {
  @NotNull
  @Field(() => Channel, { nullable: true, description: "Only chats on this channel." })
  type?: "VOICE" | "TEXT" | "SMS";
  @NotNull
  @Field({
    nullable: true,
    description:
      "Text to search for; case-insensitive. It is a part of the label, of a message, of the name or an id of the person, or of a key or value in the metadata supplied by the client.",
  })
  search?: string;
  @NotNull
  @Rule({ minimum: 1, "x-extension": true })
  @Field(() => Int, {
    nullable: true,
    description:
      "Only chats that this version of the assistant answered, given by its number, from 1. A chat with a draft counts for the version that the draft changes.",
  })
  assistantVersion?: number;
  @NotNull
  @Rule({ "x-extension": true })
  @Field({
    nullable: true,
    description:
      "Id or cursor of a log. Only logs that follow it in the chosen order are returned, and pages are counted from there. Continues a search that was limited.",
  })
  after?: string;
}

@Resolver(() => Assistant)
export class LogResolver {
  @Query(() => Log, {
    description:
      "Returns a log of an assistant, even if the assistant has been deleted. Errors: LOG_NOT_FOUND.",
  })
  log(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) assistantId: string,
    @Arg("id", () => ID, { description: "Id of the log." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Logs).byId(assistantId, id);
  }

  @NeedsOnlyId
  @FieldResolver(() => [LogListItem], {
    description:
      "Logs of the assistant's chats, by start time. A search that no index can serve is limited to the newest logs if it does not finish in time: `extensions.warnings` tells their number and the value of `after` that continues the search, with those of `page` and `take` on a page that it has not reached.",
  })
  logs(@Root() { id }: Assistant, @Args() args: LogsArgs, @Ctx() { scope }: Context) {
    return scope.of(Logs).ofAssistant(id, args);
  }

  @FieldResolver(() => Log, {
    name: "log",
    description: "Log of one of the assistant's chats. Errors: LOG_NOT_FOUND.",
  })
  oneLog(
    @Root() assistant: Assistant,
    @Arg("id", () => ID, { description: "Id of the log." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Logs).byId(assistant.id, id);
  }
}

@Resolver(() => Log)
export class LogLengthResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description: `Length without idle time, in seconds; null while the chat is live. ${LENGTH_RULE}`,
  })
  lengthSeconds(@Root() { id }: Log, @Ctx() { scope }: Context) {
    return scope.of(Lengths).of(id);
  }
}
