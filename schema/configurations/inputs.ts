import { Field, Float, InputType, Int } from "type-graphql";
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
import { NotNull, Rule, type InputRule } from "../core/rules";
import { JSONObject } from "../core/scalars";

/** Fields that all three channels have, by name: rule, description and type. */
const CHANNEL_FIELDS = {
  initialMessage: [{ nullable: false }, TEXT.initialMessage, () => String],
  prompt: [{ nullable: false }, TEXT.prompt, () => String],
  resources: [{ nullable: false }, TEXT.resources, () => String],
  temperature: [{ nullable: false, minimum: 0, maximum: 2 }, TEXT.temperature, () => Float],
  maxTokensOutput: [{ nullable: false, minimum: 1, maximum: 16_384 }, TEXT.maxTokensOutput, () => Int],
  functions: [{ nullable: false, maxItems: 64 }, TEXT.functions, () => [JSONObject]],
} as const satisfies Record<string, readonly [InputRule, string, () => unknown]>;

/** Adds the channels' fields to an input. Inheritance won't do: type-graphql drops the rules of inherited input fields. */
function channelFields({ prototype }: { prototype: object }): void {
  for (const [name, [rule, description, type]] of Object.entries(CHANNEL_FIELDS)) {
    Rule(rule)(prototype, name);
    Field(type, { nullable: true, description })(prototype, name);
  }
}

@channelFields
@InputType({
  description:
    "Changes to a voice configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateVoiceConfigurationInput {
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

@channelFields
@InputType({
  description:
    "Changes to an SMS configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateSmsConfigurationInput {
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

@channelFields
@InputType({
  description:
    "Changes to a chat configuration. Omitted fields stay unchanged; `functions` replaces the whole list. Each text is at most 1 MiB.",
})
export class UpdateChatConfigurationInput {
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
  mode?: string;
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
