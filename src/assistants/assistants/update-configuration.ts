import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import {
  type ChannelConfiguration,
  type ConfigurationKind,
  Configurations,
  type Identified,
  type Kinds,
  type VoiceConfiguration,
} from "../configurations/configurations";
import { AttachedFiles } from "../knowledge/attached-files";
import {
  checkModel,
  checkSuccession,
  checkUnusedKnowledge,
  checkVariables,
  checkVoice,
  needsRag,
  type Configuration,
  type ConfigurationWarning,
  type Warn,
} from "./warnings";
import { checkFunctions } from "./function-warnings";
import { themeWarnings } from "./theme-warnings";

/** Values of an update that are checked, by the kind of the configuration. */
type Changes = Readonly<
  Partial<
    Pick<
      VoiceConfiguration,
      "initialMessage" | "prompt" | "functions" | "model" | "provider" | "voice" | "voiceProvider"
    >
  >
> & {
  readonly theme?: JsonObject;
};
/** Fields that decide how much of the knowledge models get. */
const OF_KNOWLEDGE = ["resources", "isRagEnabled", "smsMode", "chatMode"];
const CHANNELS = { voice: "VOICE", sms: "SMS", chat: "TEXT", theme: "TEXT" } as const;

/**
 * Updates a configuration, and warns the caller about values of this update that are allowed but do not work.
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY
 */
export async function updateConfiguration<K extends ConfigurationKind>(
  scope: Scope,
  kind: K,
  assistantId: string,
  input: Partial<Kinds[K]>,
): Promise<Identified<K>> {
  const warnings: ConfigurationWarning[] = [];
  const warn: Warn = (path, code, message) =>
    void warnings.push({ channel: CHANNELS[kind], path, code, message });
  const { functions, theme, ...changes } = input as Changes;
  const { catalog } = scope.ports;
  if (functions) await checkFunctions(scope, functions, undefined, warn);
  for (const path of ["initialMessage", "prompt"] as const)
    checkVariables(path, changes[path] ?? "", undefined, warn);
  const updated = await scope.of(Configurations).update(kind, assistantId, input);
  // Only a channel's configuration has a model, and only that of VOICE a voice.
  if (changes.model ?? changes.provider)
    checkModel(CHANNELS[kind], updated as object as ChannelConfiguration, catalog, warn);
  if (changes.model) await checkSuccession(scope, updated as object as ChannelConfiguration, warn);
  if (OF_KNOWLEDGE.some((name) => (input as JsonObject)[name] !== undefined))
    await checkKnowledge(scope, kind, assistantId, updated as object as Configuration, warn);
  if (changes.voice ?? changes.voiceProvider)
    checkVoice(updated as object as VoiceConfiguration, catalog, warn);
  tell(scope, [...warnings, ...(theme ? themeWarnings(theme) : [])]);
  return updated;
}

async function checkKnowledge(
  scope: Scope,
  kind: ConfigurationKind,
  assistantId: string,
  configuration: Configuration,
  warn: Warn,
) {
  if (!needsRag(configuration)) return;
  const files = await scope.of(AttachedFiles).of(assistantId);
  checkUnusedKnowledge(CHANNELS[kind], configuration.resources, files.length > 0, warn);
}

/** Warnings of one response that name a single value. Clients limit the number and the length of headers. */
const MAX_TOLD = 16;

function tell(scope: Scope, warnings: readonly ConfigurationWarning[]): void {
  for (const { path, message } of warnings.slice(0, MAX_TOLD)) scope.warn(`${path}: ${message}`);
  const more = warnings.length - MAX_TOLD;
  if (more > 0) scope.warn(`${more} more warnings: see configurationWarnings of the assistant.`);
}
