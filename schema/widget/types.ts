import { ID, ObjectType } from "type-graphql";
import { Field } from "../core/decorators";
import { Channel, MessageRole, ThemeMode } from "../core/enums";
import { JSONObject } from "../core/scalars";

@ObjectType({
  description: "Public data of an assistant that a web page needs to show its widget.",
  simpleResolvers: true,
})
export class Widget {
  @Field(() => ID, { description: "Id of the assistant that speaks, or speaks first in a workflow." })
  assistantId!: string;
  @Field({ description: "Name of the assistant." })
  name!: string;
  @Field(() => ThemeMode, { description: "Mode in the assistant's theme configuration." })
  mode!: string;
  @Field(() => JSONObject, {
    description:
      "Look of the widget: primaryColor, backgroundColor, textColor, fontFamily, position (left, right), title, subtitle, avatarUrl (https), launcherText, borderRadius. Other keys are omitted.",
  })
  theme!: Record<string, unknown>;
  @Field({ description: "Whether text chats can be started." })
  textEnabled!: boolean;
  @Field({ description: "Whether voice chats can be started." })
  voiceEnabled!: boolean;
  @Field({
    description: "Whether voice uses the voice engine (startWidgetCall) instead of the browser's own speech.",
  })
  engineVoice!: boolean;
}

@ObjectType({
  description: "Visitor's session with an assistant or a deployment.",
  simpleResolvers: true,
})
export class WidgetSession {
  @Field({ description: "Bearer token of the session, for the header Authorization: Bearer <token>." })
  token!: string;
  @Field({
    description:
      "Expiry time, one hour after the start. The session expires earlier if the key that started it expires, is deactivated or is deleted.",
  })
  expiresAt!: Date;
  @Field({
    description:
      "Token that identifies the same browser at its next visit, valid for 90 days. The page keeps it in its storage. It grants no access by itself.",
  })
  visitorToken!: string;
  @Field({
    description: "Whether there may be earlier chats: the browser is known, or uniqueId is signed.",
  })
  historyAvailable!: boolean;
  @Field(() => Widget, { description: "Data for the widget." })
  widget!: Widget;
}

@ObjectType({ description: "Message of a visitor's chat.", simpleResolvers: true })
export class WidgetMessage {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => MessageRole, { description: "Author: USER for the visitor, ASSISTANT for the assistant." })
  role!: string;
  @Field({ description: "Text." })
  content!: string;
  @Field({ description: "Time when the message was stored." })
  createdAt!: Date;
  @Field(() => [String], { description: "Suggested replies." })
  quickReplies!: readonly string[];
  @Field({ description: "Whether the message is an apology because generating an answer failed." })
  failed!: boolean;
  @Field({ description: "Whether the message was looked up in texts of the assistant, without a model." })
  local!: boolean;
  @Field(() => String, {
    nullable: true,
    description: "The page's own id for the message; null if it gave none.",
  })
  clientId!: string | null;
}

@ObjectType({ description: "Chat of a visitor. Its log has the same id.", simpleResolvers: true })
export class WidgetChat {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => Channel, { description: "Channel of the chat." })
  channel!: string;
  @Field({
    description:
      "Status: in-progress or ended; for calls through the voice engine also queued, ringing or forwarding.",
  })
  status!: string;
  @Field({ description: "First words of the conversation; empty until then." })
  label!: string;
  @Field({ description: "Start time." })
  startedAt!: Date;
  @Field(() => Date, { nullable: true, description: "End time; null while it is live." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Reason for the end, for example ended-by-visitor, ended-by-api, idle-timeout or exceeded-max-duration; null while it is live.",
  })
  endedReason!: string | null;
}

@ObjectType({ description: "Event in a visitor's chat.", simpleResolvers: true })
export class WidgetChatEvent {
  @Field(() => ID, {
    description:
      "Id of the event. Pass it as `after` to resume the stream after this event. After a fragment, the stream resumes with the stored events that follow, which include the whole answer.",
  })
  id!: string;
  @Field({
    description:
      "Name of the event. message: a message was stored. status: the status changed. token: a fragment of the answer being generated. token-reset: the answer starts over, or the chat ended before it was complete; discard the fragments received since the last message. activity: the assistant's activity changed.",
  })
  name!: string;
  @Field(() => WidgetMessage, { nullable: true, description: "Stored message; null for events without one." })
  message!: WidgetMessage | null;
  @Field({ description: "Current status of the chat." })
  status!: string;
  @Field(() => String, {
    nullable: true,
    description: "For a token event, the fragment of text; null otherwise.",
  })
  text!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "For an activity event: thinking, speaking, listening, or the name of the function being called; null otherwise.",
  })
  activity!: string | null;
}
