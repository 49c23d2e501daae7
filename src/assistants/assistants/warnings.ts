import {
  idsFor,
  type Catalog,
  type Channel,
  type ModelEntry,
  type Succession,
} from "../../platform/catalog/load-catalog";
import { ModelMappings } from "../../account/organization/model-mappings";
import { withWhole } from "../../platform/database/lists/long-values";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import {
  type ChannelConfiguration,
  type ChatConfiguration,
  Configurations,
  KIND_OF,
  type SmsConfiguration,
  type VoiceConfiguration,
} from "../configurations/configurations";
import { filledTexts, type SpokenTexts } from "../configurations/filled-texts";
import { variableProblems } from "../configurations/variable-names";
import { AttachedFiles } from "../knowledge/attached-files";
import type { Assistant } from "./assistants";
import { checkFunctions } from "./function-warnings";
import { themeWarnings } from "./theme-warnings";

/** A value in a configuration that is allowed but does not work. */
export interface ConfigurationWarning {
  readonly channel: Channel;
  /** Field of the configuration, with the index in a list. */
  readonly path: string;
  readonly code:
    | "PROVIDER_MISMATCH"
    | "VOICE_MISMATCH"
    | "UNKNOWN_IDENTIFIER"
    | "MODEL_SUCCEEDED"
    | "UNRESOLVED_VARIABLE"
    | "FUNCTION_NOT_UNDERSTOOD"
    | "FUNCTION_WITHOUT_SERVER"
    | "FILES_WITHOUT_RAG"
    | "RESOURCES_CUT"
    | "RAG_SETTING_IGNORED"
    | "THEME_VALUE_IGNORED"
    | "THEME_VALUE_CUT"
    | "THEME_KEY_UNKNOWN";
  readonly message: string;
}

/** Without RAG, this many characters of the resources are part of the prompt. */
export const MAX_RESOURCES_IN_PROMPT = 16_000;

export type Warn = (path: string, code: ConfigurationWarning["code"], message: string) => void;

export type Configuration = VoiceConfiguration | SmsConfiguration | ChatConfiguration;

/** The data of an assistant that its configurations are checked against. */
interface CheckContext {
  readonly scope: Scope;
  /** Test values of the assistant. */
  readonly variables: JsonObject | null;
  readonly hasFiles: boolean;
}

type Subject = Pick<Assistant, "id" | "template" | "variables">;

/** Reports problems in the three channel configurations of an assistant. */
export async function configurationWarnings(
  scope: Scope,
  assistant: Subject,
): Promise<ConfigurationWarning[]> {
  const configurations = scope.of(Configurations);
  const [voice, sms, chat, { theme }, files] = await Promise.all([
    configurations.stored("voice", assistant),
    configurations.stored("sms", assistant),
    configurations.stored("chat", assistant),
    configurations.stored("theme", assistant),
    scope.of(AttachedFiles).of(assistant.id),
  ]);
  const { variables } = assistant;
  return warningsOfAll(scope, { voice, sms, chat, theme, variables, hasFiles: files.length > 0 });
}

/** The values of an assistant that are checked. */
interface Checked {
  readonly voice: VoiceConfiguration;
  readonly sms: SmsConfiguration;
  readonly chat: ChatConfiguration;
  readonly theme: JsonObject;
  readonly variables: JsonObject | null;
  readonly hasFiles: boolean;
}

/** Reports problems in configurations, whether they are stored or not. */
export function warningsOfAll(
  scope: Scope,
  { voice, sms, chat, theme, variables, hasFiles }: Checked,
): Promise<ConfigurationWarning[]> {
  return withWhole(scope, variables, async (variables) => {
    const context = { scope, variables, hasFiles };
    const each = [
      warningsOf("VOICE", voice, context),
      warningsOf("SMS", sms, context),
      warningsOf("TEXT", chat, context),
    ];
    return [...(await Promise.all(each)).flat(), ...themeWarnings(theme)];
  });
}

/** Checks the configuration of one channel. */
async function warningsOf(
  channel: Channel,
  configuration: Configuration,
  { scope, variables, hasFiles }: CheckContext,
): Promise<ConfigurationWarning[]> {
  const { catalog } = scope.ports;
  const warnings: ConfigurationWarning[] = [];
  const warn: Warn = (path, code, message) => warnings.push({ channel, path, code, message });
  checkModel(channel, configuration, catalog, warn);
  await checkSuccession(scope, configuration, warn);
  if ("voiceProvider" in configuration) checkVoice(configuration, catalog, warn);
  await checkVariables(scope, configuration, variables, warn);
  await checkFunctions(scope, configuration.functions, warn);
  if (needsRag(configuration)) checkWithoutRag(channel, configuration, hasFiles, warn);
  return warnings;
}

/** Whether the channel is enabled without RAG: models then get only what fits into the prompt. */
export const needsRag = (configuration: Configuration): boolean =>
  !configuration.isRagEnabled && isOn(configuration);

/** Warns about knowledge that a model does not get without RAG, and about settings that have no effect. */
export function checkWithoutRag(
  channel: Channel,
  { resources, forceRag, ragTriggerTopics, preserveRagResult }: Configuration,
  hasFiles: boolean,
  warn: Warn,
) {
  const remedy = `Set isRagEnabled to true with updateRagSettings, or rag.${KIND_OF[channel]}.isRagEnabled in a document.`;
  if (hasFiles)
    warn(
      "isRagEnabled",
      "FILES_WITHOUT_RAG",
      `In the channel ${channel}, models cannot use the attached files. ${remedy}`,
    );
  if (resources.length > MAX_RESOURCES_IN_PROMPT)
    warn(
      "resources",
      "RESOURCES_CUT",
      `In the channel ${channel}, models get only the first ${MAX_RESOURCES_IN_PROMPT} of ${resources.length} characters without RAG. ${remedy}`,
    );
  for (const [name, value] of Object.entries({ forceRag, ragTriggerTopics, preserveRagResult }))
    if (value)
      warn(
        name,
        "RAG_SETTING_IGNORED",
        `In the channel ${channel}, ${name} has no effect without isRagEnabled. ${remedy}`,
      );
}

/** Whether the channel is enabled. Voice cannot be disabled. */
function isOn(configuration: Configuration): boolean {
  if ("smsMode" in configuration) return configuration.smsMode;
  return !("chatMode" in configuration) || configuration.chatMode;
}

export function checkModel(
  channel: Channel,
  { provider, model }: ChannelConfiguration,
  { models, providers }: Catalog,
  warn: Warn,
) {
  const entry = models.find(({ id }) => id === model);
  if (!entry || !idsFor(models, channel).includes(model))
    warn("model", "UNKNOWN_IDENTIFIER", `${model} is not a model of this channel.`);
  if (!idsFor(providers, channel).includes(provider))
    warn("provider", "UNKNOWN_IDENTIFIER", `${provider} is not a provider of this channel.`);
  if (entry && entry.provider !== provider)
    warn(
      "provider",
      "PROVIDER_MISMATCH",
      `${model} is served by ${entry.provider}, not by ${provider}; the model decides who is called.`,
    );
}

export async function checkSuccession(scope: Scope, { model }: ChannelConfiguration, warn: Warn) {
  const entry = scope.ports.catalog.models.find(({ id }) => id === model);
  if (!entry?.succeeds) return;
  const answering = await scope.of(ModelMappings).for(model);
  if (answering.model === entry) warn("model", "MODEL_SUCCEEDED", successionOf(entry, entry.succeeds));
}

function successionOf({ provider, model, id }: ModelEntry, { withdrawn, ...old }: Succession): string {
  const when = withdrawn === undefined ? "" : ` on ${withdrawn}`;
  return `${provider} withdrew ${old.model}${when}. ${id} is answered by its closest successor, ${model} (${old.source}, as of ${old.checked}). To choose another model, use setModelMapping.`;
}

export function checkVoice({ voice, voiceProvider }: VoiceConfiguration, { voices }: Catalog, warn: Warn) {
  const entry = voices.find(({ id }) => id === voice);
  if (!entry) warn("voice", "UNKNOWN_IDENTIFIER", `${voice} is not a known voice.`);
  else if (entry.provider !== voiceProvider)
    warn(
      "voiceProvider",
      "VOICE_MISMATCH",
      `The voice ${voice} belongs to ${entry.provider}, not to ${voiceProvider}.`,
    );
}

/**
 * Warns about variables in the texts of a configuration.
 * @param values undefined if they are not known
 */
export async function checkVariables(
  scope: Scope,
  texts: Partial<SpokenTexts>,
  values: JsonObject | null | undefined,
  warn: Warn,
): Promise<void> {
  for (const { path, text } of await filledTexts(scope, texts))
    for (const problem of variableProblems(text, values)) warn(path, "UNRESOLVED_VARIABLE", problem);
}
