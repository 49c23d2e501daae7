import { Float, InputType, Int } from "type-graphql";
import type {
  ThemeConfiguration,
  VoiceConfiguration,
} from "../../src/assistants/configurations/configurations";
import type { JsonObject } from "../../src/platform/json/json-object";
import { CHAT, SMS, TEXT, THEME, VOICE } from "./texts";
import {
  BackgroundSound,
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
import { Field } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

@InputType()
abstract class ChannelFields {
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
  description:
    "Changes to a voice configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateVoiceConfigurationInput extends ChannelFields {
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
  backgroundSound?: VoiceConfiguration["backgroundSound"];
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
  description:
    "Changes to an SMS configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateSmsConfigurationInput extends ChannelFields {
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
  description:
    "Changes to a chat configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateChatConfigurationInput extends ChannelFields {
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

@InputType({
  description:
    "Changes to a theme configuration. Omitted fields stay unchanged; `theme` replaces the whole object.",
})
export class UpdateThemeConfigurationInput {
  @NotNull
  @Field(() => JSONObject, { nullable: true, description: THEME.theme })
  theme?: JsonObject;
  @NotNull
  @Field(() => ThemeMode, { nullable: true, description: THEME.mode })
  mode?: ThemeConfiguration["mode"];
}

@InputType({
  description: "Changes to the retrieval settings of an assistant. Omitted fields stay unchanged.",
})
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
