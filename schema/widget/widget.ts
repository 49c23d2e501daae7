import { Arg, Args, Ctx, Extensions, ID, Resolver } from "type-graphql";
import type { Visitor } from "../../src/account/auth/caller";
import { isHeld } from "../../src/account/organization/hold-notice";
import { Sessions } from "../../src/channels/visitors/sessions";
import { VisitorChats } from "../../src/channels/visitors/visitor-chats";
import { visibleMessages } from "../../src/channels/visitors/visitor-messages";
import { widgetChatEvents } from "../../src/channels/visitors/widget-events";
import { Widgets, type Widget as ShownWidget } from "../../src/channels/visitors/widgets";
import { WebCall } from "../calls/calls";
import { AFTER_IN_CHAT } from "../chats/inputs";
import type { Context } from "../core/context";
import { VARIABLES } from "../configurations/texts";
import { FieldResolver, Mutation, Query, Root, Subscription } from "../core/decorators";
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

/** Visitor of the session. The authorization table admits only visitors here. */
const visitorOf = ({ caller }: Context): Visitor => caller!.visitor!;

const TARGET_ERRORS =
  "ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, CHANNEL_DISABLED";

@Resolver(() => Widget)
export class WidgetResolver {
  @Mutation(() => WidgetSession, {
    description: `Starts a visitor's session with a PUBLIC key, or renews it with \`visitorToken\`. Errors: ${TARGET_ERRORS}, FORBIDDEN if the page's origin is not allowed or uniqueId lacks a required signature, RATE_LIMITED.`,
  })
  async startWidgetSession(
    @Arg("input", { description: "Assistant or deployment, and data about the visitor." })
    input: WidgetSessionInput,
    @Ctx() { scope, caller, origin, spend }: Context,
  ) {
    spend("session");
    return scope.of(Sessions).start(input, caller!, origin);
  }

  @Query(() => Widget, {
    description: `Returns the widget of the visitor's session. Errors: ${TARGET_ERRORS}.`,
  })
  widget(@Ctx() context: Context) {
    return context.scope.of(Widgets).ofVisitor(visitorOf(context));
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      "Greeting of a new chat; null if the assistant has none, or if it refuses chats without values and `variables` is omitted. Errors: MISSING_VARIABLES if a chat with these variables is refused.",
  })
  greeting(
    @Root() widget: ShownWidget,
    @Arg("variables", () => JSONObject, {
      nullable: true,
      description: VARIABLES,
    })
    variables: Record<string, unknown> | null,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Widgets).greeting(widget, variables ?? undefined);
  }

  @FieldResolver(() => Boolean, {
    description:
      "Whether the installation is held after a restore or a move. Messages are then stored, but not answered.",
  })
  held(@Ctx() { scope }: Context) {
    return isHeld(scope);
  }
}

@Resolver(() => WidgetChat)
export class WidgetChatResolver {
  @Query(() => WidgetChat, { description: "Returns a chat of the visitor. Errors: CHAT_NOT_FOUND." })
  widgetChat(@Arg("id", () => ID, { description: "Id of the chat." }) id: string, @Ctx() context: Context) {
    return context.scope.of(VisitorChats).byId(visitorOf(context), id);
  }

  @Query(() => [WidgetChat], {
    description:
      "Lists the visitor's chats with this assistant, newest first, at most 20: those of this browser with the same uniqueId, and if uniqueId is signed, those of all browsers.",
  })
  widgetChats(@Ctx() context: Context) {
    return context.scope.of(VisitorChats).list(visitorOf(context));
  }

  @Mutation(() => WidgetChat, {
    description: `Starts a chat. Errors: ${TARGET_ERRORS}, QUOTA_EXCEEDED, MISSING_VARIABLES, RATE_LIMITED.`,
  })
  async startWidgetChat(
    @Arg("input", { description: "The new chat." }) { channel = "TEXT", ...passed }: WidgetChatInput,
    @Ctx() context: Context,
  ) {
    context.spend("chat");
    return context.scope.of(VisitorChats).start(visitorOf(context), channel, passed);
  }

  @Mutation(() => WidgetMessage, {
    description:
      "Adds a message of the visitor to a live chat; the assistant answers. Errors: CHAT_NOT_FOUND, CHAT_ENDED, CONFLICT if the chat is a call through the voice engine, RATE_LIMITED.",
  })
  async postWidgetMessage(
    @Arg("input", { description: "The new message." }) input: WidgetMessageInput,
    @Ctx() context: Context,
  ) {
    context.spend("message");
    return context.scope.of(VisitorChats).post(visitorOf(context), input);
  }

  @Mutation(() => WidgetChat, {
    description:
      "Updates the variables and metadata of a live chat, for the messages that follow. Errors: CHAT_NOT_FOUND, CHAT_ENDED.",
  })
  updateWidgetChat(
    @Arg("input", { description: "Changes to apply." }) { chatId, ...passed }: WidgetChatUpdate,
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
    description: `Starts a call through the voice engine, if \`engineVoice\` is true. Errors: ${TARGET_ERRORS}, QUOTA_EXCEEDED, MISSING_VARIABLES, UNAVAILABLE, RATE_LIMITED.`,
  })
  async startWidgetCall(
    @Arg("input", { description: "Variables and metadata of the call." }) passed: WidgetCallInput,
    @Ctx() context: Context,
  ) {
    context.spend("chat");
    return context.scope.of(VisitorChats).call(visitorOf(context), passed);
  }

  @Subscription(() => WidgetChatEvent, {
    description:
      "Streams the events of a visitor's chat, from now or after the given event, until the chat ends. Errors: CHAT_NOT_FOUND, EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope, tooSlow } = context as Context;
      const wanted = { ...(args as { chatId: string; after?: string }), tooSlow };
      return widgetChatEvents(fresh, scope.ports.listener, visitorOf(context as Context), wanted);
    },
  })
  widgetChatEvents(
    @Root() event: WidgetChatEvent,
    @Arg("chatId", () => ID, { description: "Id of the chat." }) _chatId: string,
    @Arg("after", () => ID, { nullable: true, description: AFTER_IN_CHAT })
    _after?: string,
  ): WidgetChatEvent {
    return event;
  }

  @FieldResolver(() => [WidgetMessage], {
    description:
      "Last 200 messages, oldest first; with `after`, only those after that message. Errors: EVENT_NOT_FOUND.",
  })
  messages(@Root() { id }: WidgetChat, @Args() { after }: WidgetMessagesArgs, @Ctx() { scope }: Context) {
    return visibleMessages(scope, id, after);
  }
}
