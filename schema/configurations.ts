import {
  Arg,
  Ctx,
  Field,
  Float,
  ID,
  InputType,
  Int,
  InterfaceType,
  Mutation,
  ObjectType,
  registerEnumType,
  Resolver,
} from "type-graphql";
import { Configurations } from "../src/configurations/configurations";
import type { Context } from "./context";
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
} from "./enums";
import { NotNull, Rule } from "./rules";
import { JSONObject } from "./scalars";

type JsonObject = Record<string, unknown>;

const TEXT = {
  initialMessage: "Greeting that opens a conversation; variables as {name}.",
  prompt: "Instructions to the model; variables as {name}.",
  resources:
    "Knowledge that the assistant may look things up in, as plain text; an address in it is not fetched.",
  provider:
    "Vendor of the text model. The model decides who is called; a mismatch is a configuration warning.",
  model: "Text model that answers.",
  temperature: "How freely the model chooses its words, 0 to 2.",
  maxTokensOutput: "Longest answer, in tokens: 1 to 16384.",
  functions:
    'Functions that the model may call, stored as sent; at most 64. Understood: {name, description, parameters, serverUrl, secretKey} and {type: "function", function: {name, description, parameters}, server: {url, secret}}.',
  isRagEnabled: "Whether the assistant looks things up in its resources and files.",
  forceRag: "Whether it looks things up before every answer.",
  ragTriggerTopics: "Topics that make it look things up, separated by commas or line breaks.",
  preserveRagResult: "Whether what was found stays in view for the next answers.",
} as const;
const VOICE = {
  voiceProvider: "Vendor of the speech synthesis.",
  voice: "Voice that speaks.",
  backgroundSound: "What is heard behind the voice.",
  backchanneling: "Whether the assistant makes listening sounds while the person speaks.",
  endCallFunction: "Whether the model may end the call.",
  dialKeypadFunction: "Whether the model may press keys of the phone.",
  endCallMessage: "What is said before the assistant hangs up.",
  endCallPhrases: "Phrases of the assistant that end the call, separated by commas or line breaks.",
} as const;
const SMS = {
  smsMode: "Whether the SMS channel is on.",
  voiceCallMode: "Whether a person who texts may ask to be called.",
  keywords:
    "Words that bring an inbound SMS on a shared number to this assistant, separated by commas or line breaks.",
} as const;
const CHAT = {
  chatMode: "Whether the text chat channel is on.",
  quickRepliesEnabled: "Whether answers carry suggestions of what to say next.",
} as const;
const THEME = {
  theme:
    "Look of the widget: primaryColor, backgroundColor, textColor, fontFamily, position (left, right), title, subtitle, avatarUrl, launcherText, borderRadius; other keys are kept.",
  mode: "What the widget offers.",
} as const;

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
}

const WarningCode = Object.fromEntries(
  [
    "PROVIDER_MISMATCH",
    "VOICE_MISMATCH",
    "UNKNOWN_IDENTIFIER",
    "UNRESOLVED_VARIABLE",
    "FUNCTION_NOT_UNDERSTOOD",
    "FUNCTION_WITHOUT_SERVER",
  ].map((id) => [id, id]),
);
registerEnumType(WarningCode, {
  name: "ConfigurationWarningCode",
  description: "What kind of thing will not work.",
  valuesConfig: {
    PROVIDER_MISMATCH: { description: "The model is another provider's." },
    VOICE_MISMATCH: { description: "The voice is another vendor's." },
    UNKNOWN_IDENTIFIER: { description: "The catalogue no longer has this value for the channel." },
    UNRESOLVED_VARIABLE: { description: "A variable has no test value." },
    FUNCTION_NOT_UNDERSTOOD: { description: "A function has a shape that is never offered to a model." },
    FUNCTION_WITHOUT_SERVER: { description: "A function has no server URI to answer it." },
  },
});

@ObjectType({
  description: "Something in a configuration that will not work as it stands.",
  simpleResolvers: true,
})
export class ConfigurationWarning {
  @Field(() => Channel, { description: "Whose configuration." })
  channel!: string;
  @Field({ description: "Field of the configuration, with the place in a list: functions.2.description." })
  path!: string;
  @Field(() => WarningCode, { description: "What kind of thing it is." })
  code!: string;
  @Field({ description: "What it is, in a sentence." })
  message!: string;
}

@InputType()
abstract class ChannelConfigurationInput {
  @NotNull
  @Field({ nullable: true, description: TEXT.initialMessage })
  initialMessage?: string;
  @NotNull
  @Field({ nullable: true, description: TEXT.prompt })
  prompt?: string;
  @NotNull
  @Field({ nullable: true, description: TEXT.resources })
  resources?: string;
  @Rule({ nullable: false, minimum: 0, maximum: 2 })
  @Field(() => Float, { nullable: true, description: TEXT.temperature })
  temperature?: number;
  @Rule({ nullable: false, minimum: 1, maximum: 16_384 })
  @Field(() => Int, { nullable: true, description: TEXT.maxTokensOutput })
  maxTokensOutput?: number;
  @Rule({ nullable: false, maxItems: 64 })
  @Field(() => [JSONObject], { nullable: true, description: TEXT.functions })
  functions?: JsonObject[];
}

@InputType({
  description: "Changes to a voice configuration. What is left out stays; `functions` is replaced whole.",
})
export class UpdateVoiceConfigurationInput extends ChannelConfigurationInput {
  @NotNull
  @Field(() => TextProvider, { nullable: true, description: TEXT.provider })
  provider?: string;
  @NotNull
  @Field(() => VoiceModel, { nullable: true, description: TEXT.model })
  model?: string;
  @NotNull
  @Field(() => SpeechProvider, { nullable: true, description: VOICE.voiceProvider })
  voiceProvider?: string;
  @NotNull
  @Field(() => Voice, { nullable: true, description: VOICE.voice })
  voice?: string;
  @NotNull
  @Field(() => BackgroundSound, { nullable: true, description: VOICE.backgroundSound })
  backgroundSound?: string;
  @NotNull
  @Field({ nullable: true, description: VOICE.backchanneling })
  backchanneling?: boolean;
  @NotNull
  @Field({ nullable: true, description: VOICE.endCallFunction })
  endCallFunction?: boolean;
  @NotNull
  @Field({ nullable: true, description: VOICE.dialKeypadFunction })
  dialKeypadFunction?: boolean;
  @NotNull
  @Field({ nullable: true, description: VOICE.endCallMessage })
  endCallMessage?: string;
  @NotNull
  @Field({ nullable: true, description: VOICE.endCallPhrases })
  endCallPhrases?: string;
}

@InputType({
  description: "Changes to an SMS configuration. What is left out stays; `functions` is replaced whole.",
})
export class UpdateSmsConfigurationInput extends ChannelConfigurationInput {
  @NotNull
  @Field(() => SmsProvider, { nullable: true, description: TEXT.provider })
  provider?: string;
  @NotNull
  @Field(() => SmsModel, { nullable: true, description: TEXT.model })
  model?: string;
  @NotNull
  @Field({ nullable: true, description: SMS.smsMode })
  smsMode?: boolean;
  @NotNull
  @Field({ nullable: true, description: SMS.voiceCallMode })
  voiceCallMode?: boolean;
  @NotNull
  @Field({ nullable: true, description: SMS.keywords })
  keywords?: string;
}

@InputType({
  description: "Changes to a chat configuration. What is left out stays; `functions` is replaced whole.",
})
export class UpdateChatConfigurationInput extends ChannelConfigurationInput {
  @NotNull
  @Field(() => ChatProvider, { nullable: true, description: TEXT.provider })
  provider?: string;
  @NotNull
  @Field(() => ChatModel, { nullable: true, description: TEXT.model })
  model?: string;
  @NotNull
  @Field({ nullable: true, description: CHAT.chatMode })
  chatMode?: boolean;
  @NotNull
  @Field({ nullable: true, description: CHAT.quickRepliesEnabled })
  quickRepliesEnabled?: boolean;
}

@InputType({ description: "Changes to a theme configuration. `theme` is replaced whole." })
export class UpdateThemeConfigurationInput {
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: THEME.theme })
  theme?: JsonObject;
  @NotNull
  @Field(() => ThemeMode, { nullable: true, description: THEME.mode })
  mode?: string;
}

@InputType({ description: "Changes to how an assistant looks things up. What is left out stays." })
export class UpdateRagSettingsInput {
  @NotNull
  @Field({ nullable: true, description: TEXT.isRagEnabled })
  isRagEnabled?: boolean;
  @NotNull
  @Field({ nullable: true, description: TEXT.forceRag })
  forceRag?: boolean;
  @NotNull
  @Field({ nullable: true, description: TEXT.ragTriggerTopics })
  ragTriggerTopics?: string;
  @NotNull
  @Field({ nullable: true, description: TEXT.preserveRagResult })
  preserveRagResult?: boolean;
}

const ERRORS = "Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.";
const KIND = { VOICE: "voice", SMS: "sms", TEXT: "chat" } as const;

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
    channel: keyof typeof KIND,
    @Arg("input", { description: "What to change." }) input: UpdateRagSettingsInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Configurations).update(KIND[channel], id, input);
  }
}
