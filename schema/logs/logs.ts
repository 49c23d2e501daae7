import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { Logs } from "../../src/chats/logs/logs";
import { Assistant } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Channel } from "../core/enums";
import { PageArgs } from "../core/page";
import { NotNull } from "../core/rules";
import { JSONObject } from "../core/scalars";

type JsonObject = Record<string, unknown>;

@ObjectType({ description: "A log in a list.", simpleResolvers: true })
export class LogListItem {
  @Field(() => ID, { description: "The chat's id." })
  id!: string;
  @Field(() => Channel, { description: "How the chat was held." })
  type!: string;
  @Field({ description: "The user's name or number, else the first words said." })
  label!: string;
  @Field({ description: "When the chat began." })
  createdAt!: Date;
}

@ObjectType({ description: "What is kept of one chat.", simpleResolvers: true })
export class Log {
  @Field(() => ID, { description: "The chat's id." })
  id!: string;
  @Field(() => Channel, { description: "How the chat was held." })
  type!: string;
  @Field({ description: "Where the recording is; empty without one." })
  recordingUrl!: string;
  @Field(() => JSONObject, {
    description: "{items: [{id, sequence, role, channel, content, metadata, createdAt …}]}, oldest first.",
  })
  messages!: JsonObject;
  @Field(() => JSONObject, {
    description:
      "How it went: status, startedAt, endedAt, endedReason, durationSeconds, phoneNumber, messageCount.",
  })
  metadata!: JsonObject;
  @Field(() => JSONObject, { description: "What the customer passed along." })
  customerMetadata!: JsonObject;
  @Field({ description: "When the chat began." })
  createdAt!: Date;
}

@ArgsType()
class LogsArgs extends PageArgs {
  @NotNull
  @Field(() => Channel, { nullable: true, description: "Only chats held this way." })
  type?: "VOICE" | "TEXT" | "SMS";
  @NotNull
  @Field({ nullable: true, description: "Part of the label or of what was said, in any case." })
  search?: string;
}

@Resolver(() => Assistant)
export class LogResolver {
  @Query(() => Log, {
    description: "One log of an assistant, even when the assistant was deleted since. Errors: LOG_NOT_FOUND.",
  })
  log(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) assistantId: string,
    @Arg("id", () => ID, { description: "Id of the log." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Logs).byId(assistantId, id);
  }

  @FieldResolver(() => [LogListItem], { description: "Its logs, by creation." })
  logs(@Root() { id }: Assistant, @Args() args: LogsArgs, @Ctx() { scope }: Context) {
    return scope.of(Logs).ofAssistant(id, args);
  }

  @FieldResolver(() => Log, { name: "log", description: "One of its logs. Errors: LOG_NOT_FOUND." })
  oneLog(
    @Root() assistant: Assistant,
    @Arg("id", () => ID, { description: "Id of the log." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Logs).byId(assistant.id, id);
  }
}
