import { updateConfiguration } from "../../src/assistants/assistants/update-configuration";
import { Arg, Ctx, Float, ID, Int, InterfaceType, ObjectType, Resolver } from "type-graphql";
import { KIND_OF } from "../../src/assistants/configurations/configurations";
import type { JsonObject } from "../../src/platform/json/json-object";
import {
  UpdateChatConfigurationInput,
  UpdateRagSettingsInput,
  UpdateSmsConfigurationInput,
  UpdateThemeConfigurationInput,
  UpdateVoiceConfigurationInput,
} from "./inputs";
import { CHAT, SMS, TEXT, THEME, VOICE } from "./texts";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Root } from "../core/decorators";
import {
  BackgroundSound,
  Channel,
  ChatModel,
  ChatProvider,
  SmsModel,
  SmsProvider,
  SpeechProvider,
  TextProvider,
  ThemeMode,
  Voice,
  VoiceModel,
} from "../core/enums";
import { JSONObject } from "../core/scalars";

@ObjectType({ description: "Retrieval settings of an assistant on one channel.", simpleResolvers: true })
export class RagSettings {
  @Field(() => ID, { description: TEXT.id })
  id!: string;
  @Field({ description: TEXT.isRagEnabled })
  isRagEnabled!: boolean;
  @Field({ description: TEXT.forceRag })
  forceRag!: boolean;
  @Field({ description: TEXT.ragTriggerTopics })
  ragTriggerTopics!: string;
  @Field({ description: TEXT.preserveRagResult })
  preserveRagResult!: boolean;
}

@InterfaceType({ description: "Common fields of the voice, SMS and chat configurations." })
export abstract class ChannelConfiguration {
  @Field(() => ID, { description: TEXT.id })
  id!: string;
  @Field({ description: TEXT.initialMessage })
  initialMessage!: string;
  @Field({ description: TEXT.prompt })
  prompt!: string;
  @Field({ description: TEXT.resources })
  resources!: string;
  @Field(() => Float, { description: TEXT.temperature })
  temperature!: number;
  @Field(() => Int, { description: TEXT.maxTokensOutput })
  maxTokensOutput!: number;
  @Field(() => [JSONObject], { description: TEXT.functions })
  functions!: readonly JsonObject[];
  @Field({ description: TEXT.isRagEnabled })
  isRagEnabled!: boolean;
  @Field({ description: TEXT.forceRag })
  forceRag!: boolean;
  @Field({ description: TEXT.ragTriggerTopics })
  ragTriggerTopics!: string;
  @Field({ description: TEXT.preserveRagResult })
  preserveRagResult!: boolean;
}

@ObjectType({
  implements: [ChannelConfiguration, Node],
  description: "Configuration of an assistant for calls.",
  simpleResolvers: true,
})
export class VoiceConfiguration extends ChannelConfiguration {
  @Field(() => TextProvider, { description: TEXT.provider })
  provider!: string;
  @Field(() => VoiceModel, { description: TEXT.model })
  model!: string;
  @Field(() => SpeechProvider, { description: VOICE.voiceProvider })
  voiceProvider!: string;
  @Field(() => Voice, { description: VOICE.voice })
  voice!: string;
  @Field(() => BackgroundSound, { description: VOICE.backgroundSound })
  backgroundSound!: string;
  @Field({ description: VOICE.backchanneling })
  backchanneling!: boolean;
  @Field({ description: VOICE.endCallFunction })
  endCallFunction!: boolean;
  @Field({ description: VOICE.dialKeypadFunction })
  dialKeypadFunction!: boolean;
  @Field({ description: VOICE.endCallMessage })
  endCallMessage!: string;
  @Field({ description: VOICE.endCallPhrases })
  endCallPhrases!: string;
}

@ObjectType({
  implements: [ChannelConfiguration, Node],
  description: "Configuration of an assistant for SMS.",
  simpleResolvers: true,
})
export class SmsConfiguration extends ChannelConfiguration {
  @Field(() => SmsProvider, { description: TEXT.provider })
  provider!: string;
  @Field(() => SmsModel, { description: TEXT.model })
  model!: string;
  @Field({ description: SMS.smsMode })
  smsMode!: boolean;
  @Field({ description: SMS.voiceCallMode })
  voiceCallMode!: boolean;
  @Field({ description: SMS.keywords })
  keywords!: string;
}

@ObjectType({
  implements: [ChannelConfiguration, Node],
  description: "Configuration of an assistant for text chats.",
  simpleResolvers: true,
})
export class ChatConfiguration extends ChannelConfiguration {
  @Field(() => ChatProvider, { description: TEXT.provider })
  provider!: string;
  @Field(() => ChatModel, { description: TEXT.model })
  model!: string;
  @Field({ description: CHAT.chatMode })
  chatMode!: boolean;
  @Field({ description: CHAT.quickRepliesEnabled })
  quickRepliesEnabled!: boolean;
}

@ObjectType({
  implements: Node,
  description: "Look and mode of an assistant's widget.",
  simpleResolvers: true,
})
export class ThemeConfiguration {
  @Field(() => ID, { description: TEXT.id })
  id!: string;
  @Field(() => JSONObject, { description: THEME.theme })
  theme!: JsonObject;
  @Field(() => ThemeMode, { description: THEME.mode })
  mode!: string;
  @Field(() => [String], { description: THEME.allowedOrigins })
  allowedOrigins!: readonly string[];
}

/** Type of a channel's configuration, by the end of its id. */
const TYPE_OF: Readonly<Record<string, string>> = {
  voice: "VoiceConfiguration",
  sms: "SmsConfiguration",
  chat: "ChatConfiguration",
};

const ERRORS = "Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.";

@Resolver()
export class ConfigurationResolver {
  @Mutation(() => VoiceConfiguration, {
    description: `Updates the voice configuration of an assistant. ${ERRORS}`,
  })
  updateVoiceConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateVoiceConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return updateConfiguration(scope, "voice", id, input);
  }

  @Mutation(() => SmsConfiguration, {
    description: `Updates the SMS configuration of an assistant. ${ERRORS}`,
  })
  updateSmsConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateSmsConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return updateConfiguration(scope, "sms", id, input);
  }

  @Mutation(() => ChatConfiguration, {
    description: `Updates the chat configuration of an assistant. ${ERRORS}`,
  })
  updateChatConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateChatConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return updateConfiguration(scope, "chat", id, input);
  }

  @Mutation(() => ThemeConfiguration, {
    description: `Updates the theme configuration of an assistant. ${ERRORS}`,
  })
  updateThemeConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateThemeConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return updateConfiguration(scope, "theme", id, input);
  }

  @Mutation(() => RagSettings, {
    description: `Updates the retrieval settings of an assistant on one channel. ${ERRORS}`,
  })
  updateRagSettings(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("channel", () => Channel, { description: "Channel of the configuration to update." })
    channel: keyof typeof KIND_OF,
    @Arg("input", { description: "Changes to apply." }) input: UpdateRagSettingsInput,
    @Ctx() { scope }: Context,
  ) {
    return updateConfiguration(scope, KIND_OF[channel], id, input);
  }
}

@Resolver(() => RagSettings)
export class RagSettingsResolver {
  @FieldResolver(() => ChannelConfiguration, {
    description: "Configuration that contains these settings; select it to update a client's cache.",
  })
  configuration(@Root() configuration: ChannelConfiguration) {
    const { id } = configuration;
    return { ...configuration, __typename: TYPE_OF[id.slice(id.lastIndexOf(".") + 1)] };
  }
}
