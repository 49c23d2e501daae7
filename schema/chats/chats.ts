import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { chatEvents } from "../../src/chats/chats/chat-events";
import { Chats } from "../../src/chats/chats/chats";
import { Messages } from "../../src/chats/chats/messages";
import { postAndWait } from "../../src/chats/chats/post-and-wait";
import { ChatStart } from "../../src/conversation/turns/start-chat";
import { Assistant } from "../assistants/assistants";
import { ChatsArgs, EndChatArgs, MessagesArgs, PostMessageArgs, StartChatInput } from "./inputs";
import { ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Deadline } from "../core/deadline";
import { Channel, MessageRole } from "../core/enums";
import { JSONObject } from "../core/scalars";

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
    description:
      "Why it ended: ended-by-api, assistant-deleted, idle-timeout; what its workflow says, workflow-ended, workflow-deleted, workflow-stuck where that leads nowhere any more …",
  })
  endedReason!: string | null;
  assistantId!: string;
  uniqueId!: string | null;
  workflowId!: string | null;
  workflowNodeId!: string | null;
  deploymentId!: string | null;
}

@ObjectType({ description: "Something that happened in a chat.", simpleResolvers: true })
export class ChatEvent {
  @Field(() => ID, { description: "Resumes the stream behind this event: pass it as `after`." })
  id!: string;
  @Field({
    description:
      "conversation-updated: a message was stored. status-changed: the chat has another status. token: a piece of the answer that is being written. token-reset: the answer begins anew; discard the pieces shown since the last message.",
  })
  name!: string;
  @Field(() => ID, { description: "The chat." })
  chatId!: string;
  @Field(() => Message, { nullable: true, description: "The message that was stored." })
  message!: Message | null;
  @Field({ description: "The chat's status now." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Of a token event: the piece of text." })
  text!: string | null;
}

export const ChatConnection = ConnectionOf(() => Chat, "Chat");

@Resolver(() => Chat)
export class ChatResolver {
  @Query(() => Chat, { description: "One chat, live or ended. Errors: CHAT_NOT_FOUND." })
  chat(@Arg("id", () => ID, { description: "Id of the chat." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Chats).byId(id);
  }

  @Mutation(() => Chat, {
    description:
      "Opens a chat. Errors: ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY, CHANNEL_DISABLED, QUOTA_EXCEEDED.",
  })
  startChat(
    @Arg("input", { description: "The chat to open." }) input: StartChatInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ChatStart).start(input);
  }

  @Deadline(65_000)
  @Mutation(() => Message, {
    description:
      "Adds a message to a live chat; the assistant answers one of role USER. With `wait` the answer is returned, or after 60 s the message itself. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  postMessage(@Args() { input, wait }: PostMessageArgs, @Ctx() { scope, fresh }: Context) {
    return wait ? postAndWait(fresh, input) : scope.of(Messages).post(input);
  }

  @Mutation(() => Chat, { description: "Ends a chat. Errors: CHAT_NOT_FOUND, CHAT_ENDED." })
  endChat(@Args() { id, reason }: EndChatArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).end(id, reason);
  }

  @Subscription(() => ChatEvent, {
    description:
      "What happens in a chat, from now on or behind an event, whichever server stored it; ends with the chat. Errors: CHAT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope, tooSlow } = context as Context;
      const wanted = args as { chatId: string; after?: string };
      return chatEvents(fresh, scope.ports.listener, { ...wanted, tooSlow });
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
    return scope.of(Chats).where({ assistantId: id }, query, filter);
  }
}
