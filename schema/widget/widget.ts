import {
  Arg,
  Args,
  Ctx,
  Extensions,
  FieldResolver,
  ID,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
import type { Visitor } from "../../src/account/auth/caller";
import { Sessions } from "../../src/channels/visitors/sessions";
import { VisitorChats } from "../../src/channels/visitors/visitor-chats";
import { shownMessages } from "../../src/channels/visitors/visitor-messages";
import { widgetChatEvents } from "../../src/channels/visitors/widget-events";
import { Widgets, type Widget as ShownWidget } from "../../src/channels/visitors/widgets";
import { WebCall } from "../calls/calls";
import type { Context } from "../core/context";
import { JSONObject } from "../core/scalars";
import {
  WidgetCallInput,
  WidgetChatInput,
  WidgetChatUpdate,
  WidgetMessageInput,
  WidgetMessagesArgs,
  WidgetSessionInput,
} from "./inputs";
import { Widget, WidgetChat, WidgetChatEvent, WidgetMessage, WidgetSession } from "./types";

/** Whose session it is; the authorization table lets nobody else here. */
const visitorOf = ({ caller }: Context): Visitor => caller!.visitor!;

const TARGET_ERRORS =
  "ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, CHANNEL_DISABLED";

@Resolver(() => Widget)
export class WidgetResolver {
  @Mutation(() => WidgetSession, {
    description: `Begins a visitor's session with a PUBLIC key, or renews it with \`visitorToken\`. Errors: ${TARGET_ERRORS}, FORBIDDEN for a page of an origin that is not allowed and for a uniqueId that isn't signed where it must be, RATE_LIMITED.`,
  })
  async startWidgetSession(
    @Arg("input", { description: "Whose session, and with whom." }) input: WidgetSessionInput,
    @Ctx() { scope, caller, origin, spend }: Context,
  ) {
    await spend("session");
    return scope.of(Sessions).start(input, caller!, origin);
  }

  @Query(() => Widget, {
    description: `What the page of a visitor's session shows. Errors: ${TARGET_ERRORS}.`,
  })
  widget(@Ctx() context: Context) {
    return context.scope.of(Widgets).ofVisitor(visitorOf(context));
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "The greeting of a chat that is started now; null where the assistant says none.",
  })
  greeting(
    @Root() widget: ShownWidget,
    @Arg("variables", () => JSONObject, {
      nullable: true,
      description: "Values of variables, by name; they come before the assistant's own.",
    })
    variables: Record<string, unknown> | null,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Widgets).greeting(widget, variables ?? {});
  }
}

@Resolver(() => WidgetChat)
export class WidgetChatResolver {
  @Query(() => WidgetChat, { description: "A chat of the visitor. Errors: CHAT_NOT_FOUND." })
  widgetChat(@Arg("id", () => ID, { description: "Id of the chat." }) id: string, @Ctx() context: Context) {
    return context.scope.of(VisitorChats).byId(visitorOf(context), id);
  }

  @Query(() => [WidgetChat], {
    description:
      "The visitor's chats with this assistant, the newest first, at most 20: those of this browser with the same uniqueId, and with a signed uniqueId those of any browser.",
  })
  widgetChats(@Ctx() context: Context) {
    return context.scope.of(VisitorChats).list(visitorOf(context));
  }

  @Mutation(() => WidgetChat, {
    description: `Begins a chat. Errors: ${TARGET_ERRORS}, QUOTA_EXCEEDED, RATE_LIMITED.`,
  })
  async startWidgetChat(
    @Arg("input", { description: "The chat to begin." }) { channel = "TEXT", ...passed }: WidgetChatInput,
    @Ctx() context: Context,
  ) {
    await context.spend("chat");
    return context.scope.of(VisitorChats).start(visitorOf(context), channel, passed);
  }

  @Mutation(() => WidgetMessage, {
    description:
      "Adds what the visitor says to a live chat; the assistant answers. Errors: CHAT_NOT_FOUND, CHAT_ENDED, CONFLICT where the voice engine holds it, RATE_LIMITED.",
  })
  async postWidgetMessage(
    @Arg("input", { description: "What is said." }) input: WidgetMessageInput,
    @Ctx() context: Context,
  ) {
    await context.spend("message");
    return context.scope.of(VisitorChats).post(visitorOf(context), input);
  }

  @Mutation(() => WidgetChat, {
    description:
      "Gives a live chat fresh variables and metadata, for what is said from now on. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  updateWidgetChat(
    @Arg("input", { description: "The fresh data." }) { chatId, ...passed }: WidgetChatUpdate,
    @Ctx() context: Context,
  ) {
    return context.scope.of(VisitorChats).update(visitorOf(context), chatId, passed);
  }

  @Mutation(() => WidgetChat, {
    description: "Ends a chat of the visitor. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  endWidgetChat(
    @Arg("id", () => ID, { description: "Id of the chat." }) id: string,
    @Ctx() context: Context,
  ) {
    return context.scope.of(VisitorChats).end(visitorOf(context), id);
  }

  @Extensions({ dials: true })
  @Mutation(() => WebCall, {
    description: `Begins a call that the voice engine holds, where \`engineVoice\` says so. Errors: ${TARGET_ERRORS}, QUOTA_EXCEEDED, UNAVAILABLE, RATE_LIMITED.`,
  })
  async startWidgetCall(
    @Arg("input", { description: "What is known of the visitor." }) passed: WidgetCallInput,
    @Ctx() context: Context,
  ) {
    await context.spend("chat");
    return context.scope.of(VisitorChats).call(visitorOf(context), passed);
  }

  @Subscription(() => WidgetChatEvent, {
    description:
      "What happens in a chat of the visitor, from now on or behind an event; ends with the chat. Errors: CHAT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope, tooSlow } = context as Context;
      const wanted = { ...(args as { chatId: string; after?: string }), tooSlow };
      return widgetChatEvents(fresh, scope.ports.listener, visitorOf(context as Context), wanted);
    },
  })
  widgetChatEvents(
    @Root() event: WidgetChatEvent,
    @Arg("chatId", () => ID, { description: "Id of the chat." }) _chatId: string,
    @Arg("after", () => ID, { nullable: true, description: "Id of the last event that was seen." })
    _after?: string,
  ): WidgetChatEvent {
    return event;
  }

  @FieldResolver(() => [WidgetMessage], {
    description: "What was said, oldest first: the last 200 messages, or those of them behind one.",
  })
  messages(@Root() { id }: WidgetChat, @Args() { after }: WidgetMessagesArgs, @Ctx() { scope }: Context) {
    return shownMessages(scope, id, after);
  }
}
