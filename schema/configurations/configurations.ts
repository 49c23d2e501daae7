import { Arg, Ctx, Field, Float, ID, Int, InterfaceType, Mutation, ObjectType, Resolver } from "type-graphql";
import { Configurations, KIND_OF } from "../../src/assistants/configurations/configurations";
import {
  UpdateChatConfigurationInput,
  UpdateRagSettingsInput,
  UpdateSmsConfigurationInput,
  UpdateThemeConfigurationInput,
  UpdateVoiceConfigurationInput,
} from "./inputs";
import { CHAT, SMS, TEXT, THEME, VOICE } from "./texts";
import type { Context } from "../core/context";
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

type JsonObject = Record<string, unknown>;

@ObjectType({ description: "How an assistant looks things up in what it knows.", simpleResolvers: true })
export class RagSettings {
  @Field({ description: TEXT.isRagEnabled })
  isRagEnabled!: boolean;
  @Field({ description: TEXT.forceRag })
  forceRag!: boolean;
  @Field({ description: TEXT.ragTriggerTopics })
  ragTriggerTopics!: string;
  @Field({ description: TEXT.preserveRagResult })
  preserveRagResult!: boolean;
}

@InterfaceType({ description: "What the configurations of voice, SMS and chat have in common." })
export abstract class ChannelConfiguration {
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
  functions!: JsonObject[];
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
  implements: ChannelConfiguration,
  description: "How an assistant speaks and listens.",
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
  implements: ChannelConfiguration,
  description: "How an assistant answers SMS.",
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
  implements: ChannelConfiguration,
  description: "How an assistant answers in text chats.",
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

@ObjectType({ description: "How an assistant's widget looks and what it offers.", simpleResolvers: true })
export class ThemeConfiguration {
  @Field(() => JSONObject, { description: THEME.theme })
  theme!: JsonObject;
  @Field(() => ThemeMode, { description: THEME.mode })
  mode!: string;
  @Field(() => [String], { description: THEME.allowedOrigins })
  allowedOrigins!: string[];
}

const ERRORS = "Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.";

@Resolver()
export class ConfigurationResolver {
  @Mutation(() => VoiceConfiguration, { description: `Changes how an assistant speaks. ${ERRORS}` })
  updateVoiceConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateVoiceConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update("voice", id, input);
  }

  @Mutation(() => SmsConfiguration, { description: `Changes how an assistant answers SMS. ${ERRORS}` })
  updateSmsConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateSmsConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update("sms", id, input);
  }

  @Mutation(() => ChatConfiguration, {
    description: `Changes how an assistant answers in text chats. ${ERRORS}`,
  })
  updateChatConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateChatConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update("chat", id, input);
  }

  @Mutation(() => ThemeConfiguration, {
    description: `Changes how an assistant's widget looks and what it offers. ${ERRORS}`,
  })
  updateThemeConfiguration(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateThemeConfigurationInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update("theme", id, input);
  }

  @Mutation(() => RagSettings, {
    description: `Changes how an assistant looks things up on one channel. ${ERRORS}`,
  })
  updateRagSettings(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("channel", () => Channel, { description: "The channel whose configuration is changed." })
    channel: keyof typeof KIND_OF,
    @Arg("input", { description: "What to change." }) input: UpdateRagSettingsInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update(KIND_OF[channel], id, input);
  }
}
