import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { AllLogs } from "../../src/chats/logs/all-logs";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Channel } from "../core/enums";
import { LogListItem } from "./logs";
import { Rule } from "../core/rules";

@ObjectType({ description: "A log in the list of all logs.", simpleResolvers: true })
export class LogEntry extends LogListItem {
  @Field(() => ID, { description: "The assistant that the chat was with." })
  assistantId!: string;
  @Field({ description: "The chat's status." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Why the chat ended; null while it is live." })
  endedReason!: string | null;
  @Field(() => Int, { description: "Messages of every role." })
  messageCount!: number;
  @Field(() => Int, { description: "How long it lasted, until now where it is live, in seconds." })
  durationSeconds!: number;
}

@InputType({ description: "Which logs to list." })
export class LogFilter {
  @Field(() => ID, { nullable: true, description: "Only chats with this assistant, a deleted one too." })
  assistantId?: string | null;
  @Field(() => Channel, { nullable: true, description: "Only chats held this way." })
  type?: "VOICE" | "TEXT" | "SMS" | null;
  @Rule({ maxLength: 1_000 })
  @Field(() => String, { nullable: true, description: "Part of the label or of what was said, in any case." })
  search?: string | null;
  @Field(() => Date, { nullable: true, description: "Only chats that began then or later." })
  startedAfter?: Date | null;
  @Field(() => Date, { nullable: true, description: "Only chats that began before that." })
  startedBefore?: Date | null;
}

@ArgsType()
class AllLogsArgs extends ConnectionArgs {
  @Field(() => LogFilter, { nullable: true, description: "Which of them; all without it." })
  filter?: LogFilter | null;
}

const LogConnection = ConnectionOf(() => LogEntry, "LogEntry");

@Resolver(() => LogEntry)
export class AllLogsResolver {
  @Query(() => LogConnection, {
    description:
      "The logs of all assistants, deleted ones among them, the newest first. Errors: ASSISTANT_NOT_FOUND.",
  })
  logs(@Args() { filter, ...query }: AllLogsArgs, @Ctx() { scope }: Context) {
    return scope.of(AllLogs).list(query, filter ?? {});
  }

  @FieldResolver(() => String, { description: "What the assistant is called." })
  async assistantName(@Root() { assistantId }: LogEntry, @Ctx() { scope }: Context) {
    const { name } = await scope.of(Assistants).evenDeleted(assistantId);
    return name;
  }
}
