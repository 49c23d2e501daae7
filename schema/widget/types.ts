import { Field, ID, ObjectType } from "type-graphql";
import { Channel, MessageRole, ThemeMode } from "../core/enums";
import { JSONObject } from "../core/scalars";

@ObjectType({
  description: "What a web page shows of an assistant, and nothing else of it.",
  simpleResolvers: true,
})
export class Widget {
  @Field(() => ID, { description: "The assistant that speaks, or begins to." })
  assistantId!: string;
  @Field({ description: "Its name." })
  name!: string;
  @Field(() => ThemeMode, { description: "What the assistant's theme configuration offers." })
  mode!: string;
  @Field(() => JSONObject, {
    description:
      "Look of the widget: primaryColor, backgroundColor, textColor, fontFamily, position (left, right), title, subtitle, avatarUrl (https), launcherText, borderRadius. Keys of another kind are left out.",
  })
  theme!: Record<string, unknown>;
  @Field({ description: "Whether text chats can be started." })
  textEnabled!: boolean;
  @Field({ description: "Whether chats by voice can be started." })
  voiceEnabled!: boolean;
  @Field({
    description:
      "Whether the voice engine holds calls (startWidgetCall); else the browser's own speech does.",
  })
  engineVoice!: boolean;
}

@ObjectType({
  description: "A visitor's session with one assistant or deployment.",
  simpleResolvers: true,
})
export class WidgetSession {
  @Field({ description: "For the header Authorization: Bearer <token>." })
  token!: string;
  @Field({ description: "When it ends, an hour from now; it ends earlier with the key that began it." })
  expiresAt!: Date;
  @Field({
    description:
      "Proves the same browser at its next visit, for 90 days. Kept by the page in its own storage; it opens nothing by itself.",
  })
  visitorToken!: string;
  @Field({
    description: "Whether there may be earlier chats: the browser was here before, or uniqueId is signed.",
  })
  historyAvailable!: boolean;
  @Field(() => Widget, { description: "What the page shows." })
  widget!: Widget;
}

@ObjectType({ description: "A message of a visitor's chat.", simpleResolvers: true })
export class WidgetMessage {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => MessageRole, { description: "USER for the visitor, ASSISTANT for the assistant." })
  role!: string;
  @Field({ description: "What is said." })
  content!: string;
  @Field({ description: "When it was stored." })
  createdAt!: Date;
  @Field(() => [String], { description: "Suggestions of what to say next." })
  quickReplies!: string[];
  @Field({ description: "Whether it says that no answer could be made." })
  failed!: boolean;
  @Field(() => String, { nullable: true, description: "The page's own id, where it gave one." })
  clientId!: string | null;
}

@ObjectType({ description: "A chat of a visitor. Its id is its log's id.", simpleResolvers: true })
export class WidgetChat {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => Channel, { description: "How it is held." })
  channel!: string;
  @Field({
    description: "in-progress or ended; queued, ringing or forwarding where the voice engine holds it.",
  })
  status!: string;
  @Field({ description: "The first words said; empty before." })
  label!: string;
  @Field({ description: "When it began." })
  startedAt!: Date;
  @Field(() => Date, { nullable: true, description: "When it ended." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description: "Why it ended: ended-by-visitor, ended-by-api, idle-timeout, exceeded-max-duration …",
  })
  endedReason!: string | null;
}

@ObjectType({ description: "Something that happened in a visitor's chat.", simpleResolvers: true })
export class WidgetChatEvent {
  @Field(() => ID, { description: "Resumes the stream behind this event: pass it as `after`." })
  id!: string;
  @Field({
    description:
      "message: one was stored. status: the chat has another status. token: a piece of the answer that is being written. token-reset: the answer begins anew; discard the pieces shown since the last message. activity: what the assistant does now.",
  })
  name!: string;
  @Field(() => WidgetMessage, { nullable: true, description: "The message that was stored." })
  message!: WidgetMessage | null;
  @Field({ description: "The chat's status now." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Of a token event: the piece of text." })
  text!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Of an activity event: thinking, speaking, listening, or the name of the function that is called.",
  })
  activity!: string | null;
}
