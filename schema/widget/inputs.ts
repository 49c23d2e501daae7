import { ArgsType, ID, InputType, registerEnumType } from "type-graphql";
import type { JsonObject } from "../../src/platform/json/json-object";
import { VARIABLES } from "../configurations/texts";
import { Field } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

const WidgetChannel = { TEXT: "TEXT", VOICE: "VOICE" };
registerEnumType(WidgetChannel, {
  name: "WidgetChannel",
  description: "Channel of a visitor's chat.",
  valuesConfig: {
    TEXT: { description: "Text chat." },
    VOICE: { description: "Voice, by the browser's own speech recognition and synthesis." },
  },
});

const METADATA = "Metadata to store with the chat; its log returns it as customerMetadata.";

@InputType({ description: "Visitor's session to start or renew, with either an assistant or a deployment." })
export class WidgetSessionInput {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the assistant." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the deployment to use. Its type must be TEXT_IFRAME, TEXT_BUBBLE, VOICE_BUBBLE or VOICE_IFRAME.",
  })
  deploymentId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 29 })
  @Field({
    nullable: true,
    description: "Your id for the visitor, by which the assistant remembers them; 1 to 29 characters.",
  })
  uniqueId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 128 })
  @Field({
    nullable: true,
    description:
      "Signature of uniqueId: its hexadecimal HMAC-SHA-256 with the organization's identity secret as the key. Without it, chats of other browsers are not shown.",
  })
  uniqueIdSignature?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 2_000 })
  @Field({
    nullable: true,
    description:
      "Visitor token of an earlier session in the same browser, to show its chats again. A token that is not valid for this assistant is ignored and gives a new visitor.",
  })
  visitorToken?: string;
}

@InputType()
abstract class ChatFields {
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: VARIABLES })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: METADATA })
  metadata?: JsonObject;
}

@InputType({ description: "New chat of a visitor." })
export class WidgetChatInput extends ChatFields {
  @NotNull
  @Field(() => WidgetChannel, {
    nullable: true,
    defaultValue: "TEXT",
    description:
      "Channel. VOICE uses the browser's own speech and the assistant's voice configuration. Default: TEXT.",
  })
  channel?: "TEXT" | "VOICE";
}

@InputType({ description: "New call of a visitor through the voice engine." })
export class WidgetCallInput extends ChatFields {}

@InputType({ description: "New message of a visitor." })
export class WidgetMessageInput {
  @Field(() => ID, { description: "Id of the visitor's chat." })
  chatId!: string;
  @Rule({ minLength: 1, maxLength: 16_000 })
  @Field({ description: "Text, 1 to 16,000 characters." })
  content!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 64 })
  @Field({
    nullable: true,
    description:
      "The page's own id for the message, 1 to 64 characters. A message sent again with the same id, for example after a network failure, is stored only once and gets the same response.",
  })
  clientId?: string;
}

@InputType({ description: "Changes to the data of a visitor's chat. Omitted fields stay unchanged." })
export class WidgetChatUpdate {
  @Field(() => ID, { description: "Id of the visitor's chat." })
  chatId!: string;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: `${VARIABLES} Replaces all previous values except those that a workflow has set.`,
  })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: `${METADATA} Replaces the previous metadata.` })
  metadata?: JsonObject;
}

@ArgsType()
export class WidgetMessagesArgs {
  @Field(() => ID, {
    nullable: true,
    description: "Id of the last message or event received. Default: none.",
  })
  after?: string;
}
