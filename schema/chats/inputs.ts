import { ArgsType, ID, InputType, Int } from "type-graphql";
import type { JsonObject } from "../../src/platform/json/json-object";
import { STATUSES } from "../../src/chats/chats/chats";
import { ConnectionArgs } from "../core/connection";
import { VARIABLES } from "../configurations/texts";
import { Field } from "../core/decorators";
import { Channel, MessageRole } from "../core/enums";
import { NotNull, oneOf, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

@InputType({ description: "New chat with an assistant, a workflow or a deployment: exactly one of them." })
export class StartChatInput {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the assistant." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the workflow to run." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, {
    nullable: true,
    description: "Id of the deployment to use. Its type must support chats on this channel.",
  })
  deploymentId?: string;
  @Rule({ nullable: false, minimum: 1, "x-extension": true })
  @Field(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that answers, from 1; needs assistantId. Default: the deployment's, else the current one.",
  })
  assistantVersion?: number;
  @Rule({ nullable: false, "x-extension": true })
  @Field({
    nullable: true,
    description: "Whether the assistant's draft answers, as it is now; needs assistantId. Default: false.",
  })
  draft?: boolean;
  @NotNull
  @Field(() => Channel, {
    nullable: true,
    defaultValue: "TEXT",
    description: "Channel of the conversation. Default: TEXT.",
  })
  channel?: "VOICE" | "TEXT" | "SMS";
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: VARIABLES,
  })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: "Metadata to store with the chat; its log returns it as customerMetadata.",
  })
  metadata?: JsonObject;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({
    nullable: true,
    description: "Your id or name for the end user, 1 to 255 characters; it becomes the log's label.",
  })
  userId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 29 })
  @Field({
    nullable: true,
    description: "Your id for the end user, by which the assistant remembers them; 1 to 29 characters.",
  })
  uniqueId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 128 })
  @Field({
    nullable: true,
    description:
      "Signature of uniqueId: its hexadecimal HMAC-SHA-256 with the organization's identity secret as the key.",
  })
  uniqueIdSignature?: string;
}

@InputType({ description: "New message of a live chat." })
export class PostMessageInput {
  @Field(() => ID, { description: "Id of the chat." })
  aiChatId!: string;
  @Field(() => MessageRole, { description: "Author of the message." })
  role!: "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";
  @Field(() => Channel, {
    description: "Channel to store with the message. It has no effect: the chat's channel applies.",
  })
  channel!: "VOICE" | "TEXT" | "SMS";
  @Field(() => String, { nullable: true, description: "Text, at most 1 MiB." })
  content?: string | null;
  @Field(() => JSONObject, { description: "Metadata to store with the message." })
  metadata!: JsonObject;
}

@InputType({ description: "Conditions for chats; all must hold." })
export class ChatFilter {
  @NotNull
  @Field(() => Channel, { nullable: true, description: "Only chats on this channel." })
  channel?: "VOICE" | "TEXT" | "SMS";
  @Rule({ nullable: false, enum: STATUSES })
  @Field({ nullable: true, description: `Only chats with this status: ${oneOf(STATUSES)}.` })
  status?: string;
  @NotNull
  @Field({ nullable: true, description: "Only chats started after this time (exclusive)." })
  startedAfter?: Date;
  @NotNull
  @Field({ nullable: true, description: "Only chats started before this time (exclusive)." })
  startedBefore?: Date;
}

@ArgsType()
export class ChatsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => ChatFilter, { nullable: true, description: "Filter. Default: all chats." })
  filter?: ChatFilter;
}

@ArgsType()
export class EndChatArgs {
  @Field(() => ID, { description: "Id of the chat." })
  id!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({
    nullable: true,
    description: "Reason, stored as endedReason; 1 to 255 characters. Default: ended-by-api.",
  })
  reason?: string;
}

@ArgsType()
export class MessagesArgs {
  @Rule({ minimum: 1, maximum: 500, "x-extension": true })
  @Field(() => Int, {
    defaultValue: 100,
    description: "Maximum number of messages to return, 1 to 500. Default: 100.",
  })
  last!: number;
  @Rule({ format: "id", "x-extension": true })
  @Field(() => ID, {
    nullable: true,
    description: "Id of a message; only messages before it are returned. Default: the end of the chat.",
  })
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
    description:
      "Whether to wait up to 60 s for the assistant's answer and return it instead of the posted message. Without an answer by then, the posted message is returned, with a warning in `extensions.warnings`. To receive both, use `withReply`. Default: false.",
  })
  wait?: boolean;
  @Rule({ nullable: false, "x-extension": true })
  @Field({
    nullable: true,
    defaultValue: false,
    description:
      "Whether to wait up to 60 s for the assistant's answer and return the posted message with the answer in `reply`. Without an answer by then, `reply` is null, or absent over REST, and a warning says so. Default: false.",
  })
  withReply?: boolean;
}

/** Description of the argument `after` of streams of a chat's events. */
export const AFTER_IN_CHAT =
  'Id of the last event received; "0" or the id of the chat for all its messages from the beginning. Default: only new events.';
