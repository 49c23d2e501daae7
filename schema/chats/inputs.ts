import { ArgsType, Field, ID, InputType, Int } from "type-graphql";
import { ConnectionArgs } from "../core/connection";
import { Channel, MessageRole } from "../core/enums";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

type JsonObject = Record<string, unknown>;

@InputType({ description: "A chat to open: with an assistant, a workflow or what a deployment says." })
export class StartChatInput {
  @NotNull
  @Field(() => ID, { nullable: true, description: "The assistant to talk with." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "The workflow to run." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, {
    nullable: true,
    description: "The deployment to use; its type must hold chats of the channel.",
  })
  deploymentId?: string;
  @NotNull
  @Field(() => Channel, { nullable: true, defaultValue: "TEXT", description: "How it is held." })
  channel?: "VOICE" | "TEXT" | "SMS";
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: "Values of variables, by name; they come before the assistant's own.",
  })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: "Anything to keep with the chat; its log returns it as customerMetadata.",
  })
  metadata?: JsonObject;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "Your own id or name of the person; it becomes the log's label." })
  userId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 29 })
  @Field({
    nullable: true,
    description: "Identifies the end user whom the assistant remembers; shorter than 30 characters.",
  })
  uniqueId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 128 })
  @Field({
    nullable: true,
    description:
      "Signs uniqueId: its hexadecimal HMAC with SHA-256 under the organization's identity secret.",
  })
  uniqueIdSignature?: string;
}

@InputType({ description: "A message to add to a live chat." })
export class PostMessageInput {
  @Field(() => ID, { description: "The chat." })
  aiChatId!: string;
  @Field(() => MessageRole, { description: "Who speaks." })
  role!: "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";
  @Field(() => Channel, { description: "Stored as sent; the chat's own channel rules the conversation." })
  channel!: "VOICE" | "TEXT" | "SMS";
  @Field(() => String, { nullable: true, description: "What is said, at most 1 MiB." })
  content?: string | null;
  @Field(() => JSONObject, { description: "Anything to keep with the message." })
  metadata!: JsonObject;
}

@InputType({ description: "Which chats are wanted." })
export class ChatFilter {
  @NotNull
  @Field(() => Channel, { nullable: true, description: "Held this way." })
  channel?: "VOICE" | "TEXT" | "SMS";
  @NotNull
  @Field({ nullable: true, description: "With this status." })
  status?: string;
  @NotNull
  @Field({ nullable: true, description: "Begun after this moment." })
  startedAfter?: Date;
  @NotNull
  @Field({ nullable: true, description: "Begun before this moment." })
  startedBefore?: Date;
}

@ArgsType()
export class ChatsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => ChatFilter, { nullable: true, description: "Which chats are wanted; all without it." })
  filter?: ChatFilter;
}

@ArgsType()
export class EndChatArgs {
  @Field(() => ID, { description: "Id of the chat." })
  id!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "Kept as endedReason; ended-by-api without it." })
  reason?: string;
}

@ArgsType()
export class MessagesArgs {
  @Rule({ minimum: 1, maximum: 500 })
  @Field(() => Int, { defaultValue: 100, description: "Most messages to return, 1 to 500." })
  last!: number;
  @Rule({ format: "cursor" })
  @Field(() => ID, { nullable: true, description: "Id of the message that follows the wanted ones." })
  before?: string;
}

@ArgsType()
export class PostMessageArgs {
  @Field(() => PostMessageInput, { description: "The message." })
  input!: PostMessageInput;
  @NotNull
  @Field({
    nullable: true,
    defaultValue: false,
    description: "Wait for the assistant's answer and return it.",
  })
  wait?: boolean;
}
