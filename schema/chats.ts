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
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
import { Assistants } from "../src/assistants/assistants";
import { chatEvents } from "../src/chats/chat-events";
import { Chats } from "../src/chats/chats";
import { Messages } from "../src/chats/messages";
import { ChatStart } from "../src/chats/start";
import { Assistant } from "./assistants";
import { ConnectionArgs, ConnectionOf } from "./connection";
import type { Context } from "./context";
import { Channel, MessageRole } from "./enums";
import { NotNull, Rule } from "./rules";
import { JSONObject } from "./scalars";

type JsonObject = Record<string, unknown>;

@ObjectType({ description: "One message of a chat.", simpleResolvers: true })
export class Message {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => ID, { description: "The chat it belongs to." })
  chatId!: string;
  @Field(() => Int, { description: "Place in the chat, from 1, without a gap." })
  sequence!: number;
  @Field(() => MessageRole, { description: "Who speaks." })
  role!: string;
  @Field(() => Channel, {
    description: "The channel it was posted with; the chat's own channel rules the conversation.",
  })
  channel!: string;
  @Field(() => String, { nullable: true, description: "What is said." })
  content!: string | null;
  @Field(() => JSONObject, { description: "What was posted with it." })
  metadata!: JsonObject;
  @Field(() => String, {
    nullable: true,
    description: "Of a TOOL message: the function call that it answers.",
  })
  toolCallId!: string | null;
  @Field(() => [JSONObject], {
    nullable: true,
    description: "Of an ASSISTANT message: the functions it calls.",
  })
  toolCalls!: JsonObject[] | null;
  @Field({ description: "When it was stored." })
  createdAt!: Date;
}

@ObjectType({
  description: "A conversation of one person with one assistant, live or ended. Its id is its log's id.",
  simpleResolvers: true,
})
export class Chat {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => Channel, { description: "How it is held." })
  channel!: string;
  @Field({ description: "queued, ringing, in-progress, forwarding or ended; it moves forward only." })
  status!: string;
  @Field({ description: "The user's name or number, else the first words said." })
  label!: string;
  @Field(() => String, { nullable: true, description: "The person's number, E.164, in SMS and phone calls." })
  phoneNumber!: string | null;
  @Field(() => JSONObject, {
    description: "Values of variables, by name; they come before the assistant's own.",
  })
  variables!: JsonObject;
  @Field(() => JSONObject, { description: "What the customer passed along." })
  metadata!: JsonObject;
  @Field(() => String, { nullable: true, description: "Where the recording of a call is." })
  recordingUrl!: string | null;
  @Field({ description: "When it began." })
  startedAt!: Date;
  @Field(() => Date, { nullable: true, description: "When it ended." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description: "Why it ended: ended-by-api, assistant-deleted, idle-timeout …",
  })
  endedReason!: string | null;
  assistantId!: string;
}

@ObjectType({ description: "Something that happened in a chat.", simpleResolvers: true })
export class ChatEvent {
  @Field(() => ID, { description: "Resumes the stream behind this event: pass it as `after`." })
  id!: string;
  @Field({
    description: "conversation-updated: a message was stored. status-changed: the chat has another status.",
  })
  name!: string;
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
  @Field(() => Message, { nullable: true, description: "The message that was stored." })
  message!: Message | null;
  @Field({ description: "The chat's status now." })
  status!: string;
}

@InputType({ description: "A chat to open." })
export class StartChatInput {
  @Field(() => ID, { description: "The assistant to talk with." })
  assistantId!: string;
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
class ChatsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => ChatFilter, { nullable: true, description: "Which chats are wanted; all without it." })
  filter?: ChatFilter;
}

@ArgsType()
class EndChatArgs {
  @Field(() => ID, { description: "Id of the chat." })
  id!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 255 })
  @Field({ nullable: true, description: "Kept as endedReason; ended-by-api without it." })
  reason?: string;
}

@ArgsType()
class MessagesArgs {
  @Rule({ minimum: 1, maximum: 500 })
  @Field(() => Int, { defaultValue: 100, description: "Most messages to return, 1 to 500." })
  last!: number;
  @Field(() => ID, { nullable: true, description: "Id of the message that follows the wanted ones." })
  before?: string;
}

const ChatConnection = ConnectionOf(() => Chat, "Chat");

@Resolver(() => Chat)
export class ChatResolver {
  @Query(() => Chat, { description: "One chat, live or ended. Errors: CHAT_NOT_FOUND." })
  chat(@Arg("id", () => ID, { description: "Id of the chat." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Chats).byId(id);
  }

  @Mutation(() => Chat, {
    description: "Opens a chat. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, CHANNEL_DISABLED.",
  })
  startChat(
    @Arg("input", { description: "The chat to open." }) input: StartChatInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ChatStart).start(input);
  }

  @Mutation(() => Message, {
    description: "Adds a message to a live chat. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  postMessage(
    @Arg("input", { description: "The message." }) input: PostMessageInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Messages).post(input);
  }

  @Mutation(() => Chat, { description: "Ends a chat. Errors: CHAT_NOT_FOUND, CHAT_ENDED." })
  endChat(@Args() { id, reason }: EndChatArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).end(id, reason);
  }

  @Subscription(() => ChatEvent, {
    description:
      "What happens in a chat, from now on or behind an event, whichever server stored it; ends with the chat. Errors: CHAT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope } = context as Context;
      return chatEvents(fresh, scope.ports.listener, args as { chatId: string; after?: string });
    },
  })
  chatEvents(
    @Root() event: ChatEvent,
    @Arg("chatId", () => ID, { description: "Id of the chat." }) _chatId: string,
    @Arg("after", () => ID, { nullable: true, description: "Id of the last event that was seen." })
    _after?: string,
  ): ChatEvent {
    return event;
  }

  @FieldResolver(() => Assistant, { description: "The assistant, even when it was deleted since." })
  assistant(@Root() { assistantId }: Chat, @Ctx() { scope }: Context) {
    return scope.of(Assistants).evenDeleted(assistantId);
  }

  @FieldResolver(() => [Message], { description: "Its last messages, oldest first." })
  messages(@Root() { id }: Chat, @Args() { last, before }: MessagesArgs, @Ctx() { scope }: Context) {
    return scope.of(Messages).last(id, last, before);
  }
}

@Resolver(() => Assistant)
export class AssistantChatResolver {
  @FieldResolver(() => ChatConnection, { description: "Its chats, the newest first." })
  chats(@Root() { id }: Assistant, @Args() { filter, ...query }: ChatsArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).ofAssistant(id, query, filter);
  }
}
