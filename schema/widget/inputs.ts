import { ArgsType, Field, ID, InputType, registerEnumType } from "type-graphql";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

type JsonObject = Record<string, unknown>;

const WidgetChannel = { TEXT: "TEXT", VOICE: "VOICE" };
registerEnumType(WidgetChannel, {
  name: "WidgetChannel",
  description: "How a visitor of a web page talks: by text, or by the browser's own speech.",
});

const VARIABLES = "Values of variables, by name; they come before the assistant's own.";
const METADATA = "Anything to keep with the chat; its log returns it as customerMetadata.";

@InputType({ description: "A visitor's session to begin or to renew: with an assistant or a deployment." })
export class WidgetSessionInput {
  @NotNull
  @Field(() => ID, { nullable: true, description: "The assistant to talk with." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, {
    nullable: true,
    description:
      "The deployment to use; its type must be TEXT_IFRAME, TEXT_BUBBLE, VOICE_BUBBLE or VOICE_IFRAME.",
  })
  deploymentId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 29 })
  @Field({
    nullable: true,
    description: "Identifies the person whom the assistant remembers; shorter than 30 characters.",
  })
  uniqueId?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 128 })
  @Field({
    nullable: true,
    description:
      "Signs uniqueId: its hexadecimal HMAC with SHA-256 under the organization's identity secret. Only with it are the person's chats shown in another browser.",
  })
  uniqueIdSignature?: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 2_000 })
  @Field({
    nullable: true,
    description:
      "Of an earlier session in the same browser: its chats are shown again. One that is not valid for this assistant makes a new visitor.",
  })
  visitorToken?: string;
}

@InputType({ description: "A chat that a visitor begins." })
export class WidgetChatInput {
  @NotNull
  @Field(() => WidgetChannel, {
    nullable: true,
    defaultValue: "TEXT",
    description:
      "How it is held: VOICE by the browser's own speech, with the assistant's voice configuration.",
  })
  channel?: "TEXT" | "VOICE";
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: VARIABLES })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: METADATA })
  metadata?: JsonObject;
}

@InputType({ description: "A call that a visitor begins, held by the voice engine." })
export class WidgetCallInput {
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: VARIABLES })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: METADATA })
  metadata?: JsonObject;
}

@InputType({ description: "What a visitor says." })
export class WidgetMessageInput {
  @Field(() => ID, { description: "The visitor's chat." })
  chatId!: string;
  @Rule({ minLength: 1, maxLength: 16_000 })
  @Field({ description: "What is said, 1 to 16,000 characters." })
  content!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 64 })
  @Field({
    nullable: true,
    description:
      "The page's own id of the message: sent again after the network dropped, it is stored once and answered alike.",
  })
  clientId?: string;
}

@InputType({ description: "Fresh data for a visitor's chat. What is left out stays." })
export class WidgetChatUpdate {
  @Field(() => ID, { description: "The visitor's chat." })
  chatId!: string;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: `${VARIABLES} They replace those of before, but for variables that a workflow has set itself.`,
  })
  variables?: JsonObject;
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: `${METADATA} It replaces that of before.` })
  metadata?: JsonObject;
}

@ArgsType()
export class WidgetMessagesArgs {
  @Field(() => ID, { nullable: true, description: "Id of the last message that was seen." })
  after?: string;
}
