import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { RAG_SETTINGS } from "../configurations/columns";
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
  checkVariables,
  checkVoice,
  checkWithoutRag,
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
const OF_KNOWLEDGE = ["resources", ...RAG_SETTINGS, "smsMode", "chatMode"];
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
  const updated = await scope.of(Configurations).update(kind, assistantId, input);
  const hasFiles = async () => (await scope.of(AttachedFiles).of(assistantId)).length > 0;
  tell(scope, await warningsOfChange(scope, kind, input, { whole: updated, hasFiles }));
  return updated;
}

/** A configuration after a change. */
interface Changed {
  readonly whole: object;
  readonly hasFiles: () => Promise<boolean> | boolean;
}

/** Warnings about the given values of a configuration that are allowed but do not work. */
export async function warningsOfChange(
  scope: Scope,
  kind: ConfigurationKind,
  input: object,
  { whole, hasFiles }: Changed,
): Promise<ConfigurationWarning[]> {
  const warnings: ConfigurationWarning[] = [];
  const channel = CHANNELS[kind];
  const warn: Warn = (path, code, message) => void warnings.push({ channel, path, code, message });
  const { theme, ...changes } = input as Changes;
  const { catalog } = scope.ports;
  await checkVariables(scope, changes, undefined, warn);
  if (changes.functions) await checkFunctions(scope, changes.functions, warn);
  // Only a channel's configuration has a model, and only that of VOICE a voice.
  if (changes.model ?? changes.provider) checkModel(channel, whole as ChannelConfiguration, catalog, warn);
  if (changes.model) await checkSuccession(scope, whole as ChannelConfiguration, warn);
  const isKnowledge = OF_KNOWLEDGE.some((name) => (input as JsonObject)[name] !== undefined);
  if (isKnowledge && needsRag(whole as Configuration))
    checkWithoutRag(channel, whole as Configuration, await hasFiles(), warn);
  if (changes.voice ?? changes.voiceProvider) checkVoice(whole as VoiceConfiguration, catalog, warn);
  return [...warnings, ...(theme ? themeWarnings(theme) : [])];
}

/** Warnings of one response that name a single value. Clients limit the number and the length of headers. */
const MAX_TOLD = 16;

/** Adds the warnings to the response. */
export function tell(scope: Scope, warnings: readonly ConfigurationWarning[]): void {
  for (const { path, message } of warnings.slice(0, MAX_TOLD)) scope.warn(`${path}: ${message}`);
  const more = warnings.length - MAX_TOLD;
  if (more > 0) scope.warn(`${more} more warnings: see configurationWarnings of the assistant.`);
}
