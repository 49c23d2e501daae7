import { Arg, Args, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { chatEvents } from "../../src/chats/chats/chat-events";
import { Chats } from "../../src/chats/chats/chats";
import { Messages } from "../../src/chats/chats/messages";
import { postMessage } from "../../src/chats/chats/post-and-wait";
import { ChatStart } from "../../src/conversation/turns/start-chat";
import type { JsonObject } from "../../src/platform/json/json-object";
import { Assistant } from "../assistants/assistants";
import {
  AFTER_IN_CHAT,
  ChatsArgs,
  EndChatArgs,
  MessagesArgs,
  PostMessageArgs,
  StartChatInput,
} from "./inputs";
import { ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root, Subscription } from "../core/decorators";
import { Deadline } from "../core/deadline";
import { Channel, MessageRole } from "../core/enums";
import { Extension } from "../core/rules";
import { JSONObject } from "../core/scalars";

@ObjectType({ description: "Message of a chat.", simpleResolvers: true })
export class Message {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => ID, { description: "Id of its chat." })
  chatId!: string;
  @Field(() => Int, { description: "Position in the chat, from 1, without gaps." })
  sequence!: number;
  @Field(() => MessageRole, { description: "Author of the message." })
  role!: string;
  @Field(() => Channel, {
    description: "Channel that the message was posted with. It has no effect: the chat's channel applies.",
  })
  channel!: string;
  @Field(() => String, { nullable: true, description: "Text; null if the message has none." })
  content!: string | null;
  @Field(() => JSONObject, {
    description:
      "Metadata supplied with the message. In an answer from resources or files, `citations` lists the passages as {source, text, fileId, page}; `text` contains at most the first 300 characters of a passage.",
  })
  metadata!: JsonObject;
  @Field(() => String, {
    nullable: true,
    description: "For a TOOL message, id of the function call that it answers; null otherwise.",
  })
  toolCallId!: string | null;
  @Field(() => [JSONObject], {
    nullable: true,
    description: "For an ASSISTANT message, the function calls that it makes; null otherwise.",
  })
  toolCalls!: readonly JsonObject[] | null;
  @Extension
  @Field(() => Message, {
    nullable: true,
    description:
      "The assistant's answer, if the message was posted with `withReply` and the answer came in time; null otherwise.",
  })
  reply?: Message | null;
  @Field({ description: "Time when the message was stored." })
  createdAt!: Date;
}

@ObjectType({
  implements: Node,
  description:
    "Record of a conversation between an end user and an assistant, live or ended. Its log has the same id.",
  simpleResolvers: true,
})
export class Chat {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => Channel, { description: "Channel of the conversation." })
  channel!: string;
  @Field({ description: "Status: queued, ringing, in-progress, forwarding or ended. It only moves forward." })
  status!: string;
  @Field({
    description: "Name or telephone number of the end user, else the first words of the conversation.",
  })
  label!: string;
  @Field(() => String, {
    nullable: true,
    description:
      "Telephone number of the end user in SMS and telephone calls, in E.164 format; null otherwise.",
  })
  phoneNumber!: string | null;
  @Field(() => JSONObject, {
    description: "Values of variables, by name; they take precedence over the assistant's.",
  })
  variables!: JsonObject;
  @Field(() => JSONObject, { description: "Metadata supplied by the client." })
  metadata!: JsonObject;
  @Field(() => String, { nullable: true, description: "URL of a call's recording; null if there is none." })
  recordingUrl!: string | null;
  @Field({ description: "Start time." })
  startedAt!: Date;
  @Field(() => Date, { nullable: true, description: "End time; null while it is live." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Reason for the end, for example ended-by-api, assistant-deleted, idle-timeout, the endReason of an END node, workflow-ended, workflow-deleted, or workflow-stuck if the workflow can't continue; null while it is live.",
  })
  endedReason!: string | null;
  @Field(() => ID, { description: "Id of the assistant that the conversation began with." })
  assistantId!: string;
  runsDraft!: boolean;
  speakerVersions!: Readonly<Record<string, number>> | null;
  @Field(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that the chat uses until it ends, even if the version has been removed. Null if the chat follows the assistant.",
  })
  assistantVersion!: number | null;
  uniqueId!: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Id of the workflow of the chat, even if it has been deleted; null if there is none.",
  })
  workflowId!: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the current node of the workflow, or of the last one if the chat has ended, even if it has been deleted; null if there is none.",
  })
  workflowNodeId!: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the deployment that the chat was started with, even if it has been deleted; null if there is none.",
  })
  deploymentId!: string | null;
}

@ObjectType({ description: "Event in a chat.", simpleResolvers: true })
export class ChatEvent {
  @Field(() => ID, {
    description:
      "Id of the event. Pass it as `after` to resume the stream after this event. After a fragment, the stream resumes with the stored events that follow, which include the whole answer.",
  })
  id!: string;
  @Field({
    description:
      "Name of the event. conversation-updated: a message was stored. status-changed: the status changed. token: a fragment of the answer being generated. token-reset: the answer starts over, or the chat ended before it was complete; discard the fragments received since the last message.",
  })
  name!: string;
  @Field(() => ID, { description: "Id of the chat." })
  chatId!: string;
  @Field(() => Message, { nullable: true, description: "Stored message; null for events without one." })
  message!: Message | null;
  @Field({ description: "Current status of the chat." })
  status!: string;
  @Field(() => String, {
    nullable: true,
    description: "For a token event, the fragment of text; null otherwise.",
  })
  text!: string | null;
}

export const ChatConnection = ConnectionOf(() => Chat, "Chat");

@Resolver(() => Chat)
export class ChatResolver {
  @Query(() => ChatConnection, {
    description: "Lists the chats of all assistants, live and ended, newest first.",
  })
  chats(@Args() { filter, ...query }: ChatsArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).list(query, filter);
  }

  @Query(() => Chat, { description: "Returns a chat, live or ended. Errors: CHAT_NOT_FOUND." })
  chat(@Arg("id", () => ID, { description: "Id of the chat." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Chats).byId(id);
  }

  @Mutation(() => Chat, {
    description:
      "Starts a chat. Errors: ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY, DRAFT_NOT_FOUND, CHANNEL_DISABLED, QUOTA_EXCEEDED, MISSING_VARIABLES.",
  })
  startChat(
    @Arg("input", { description: "The new chat." }) input: StartChatInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ChatStart).start(input);
  }

  @Deadline(65_000)
  @Mutation(() => Message, {
    description:
      "Adds a message to a live chat; the assistant answers messages of role USER. Returns the message, or with `wait` the assistant's answer if it comes within 60 s; `withReply` returns both. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  postMessage(@Args() { input, ...waiting }: PostMessageArgs, @Ctx() { scope, fresh, attemptId }: Context) {
    return postMessage(scope, fresh, input, { ...waiting, id: attemptId });
  }

  @Mutation(() => Chat, { description: "Ends a chat. Errors: CHAT_NOT_FOUND, CHAT_ENDED." })
  endChat(@Args() { id, reason }: EndChatArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).end(id, reason);
  }

  @Subscription(() => ChatEvent, {
    description:
      "Streams the events of a chat from all servers, from now or after the given event, until the chat ends. Errors: CHAT_NOT_FOUND, EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope, tooSlow } = context as Context;
      const wanted = args as { chatId: string; after?: string };
      return chatEvents(fresh, scope.ports.listener, { ...wanted, tooSlow });
    },
  })
  chatEvents(
    @Root() event: ChatEvent,
    @Arg("chatId", () => ID, { description: "Id of the chat." }) _chatId: string,
    @Arg("after", () => ID, { nullable: true, description: AFTER_IN_CHAT })
    _after?: string,
  ): ChatEvent {
    return event;
  }

  @FieldResolver(() => Assistant, { description: "Assistant of the chat, even if it has been deleted." })
  assistant(@Root() { assistantId }: Chat, @Ctx() { scope }: Context) {
    return scope.of(Assistants).byIdIncludingDeleted(assistantId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "Greeting with which the assistant opened the conversation; null if it opened without one.",
  })
  greeting(@Root() { id }: Chat, @Ctx() { scope }: Context) {
    return scope.of(Messages).greeting(id);
  }

  @FieldResolver(() => [Message], { description: "Last messages of the chat, oldest first." })
  messages(@Root() { id }: Chat, @Args() { last, before }: MessagesArgs, @Ctx() { scope }: Context) {
    return scope.of(Messages).last(id, last, before);
  }
}

@Resolver(() => Assistant)
export class AssistantChatResolver {
  @FieldResolver(() => ChatConnection, { description: "Chats with the assistant, newest first." })
  chats(@Root() { id }: Assistant, @Args() { filter, ...query }: ChatsArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).where({ assistantId: id }, query, filter);
  }
}
