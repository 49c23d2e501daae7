import { registerEnumType } from "type-graphql";
import { PERMISSIONS } from "../../src/account/auth/limits";
import { CHANNELS, idsFor, type Catalog } from "../../src/platform/catalog/load-catalog";

type Ids = Record<string, string>;

/** An enumeration of which each value is its own name. */
export function enumOf(name: string, description: string, ids: readonly string[] = []): Ids {
  const values: Ids = {};
  fill(values, ids);
  registerEnumType(values, { name, description });
  return values;
}

function fill(values: Ids, ids: readonly string[]): void {
  for (const id of Object.keys(values)) delete values[id];
  for (const id of ids) values[id] = id;
}

export const TextProvider = enumOf("TextProvider", "A vendor of text models.");
export const SmsProvider = enumOf("SmsProvider", "A vendor of text models that the SMS channel may use.");
export const ChatProvider = enumOf("ChatProvider", "A vendor of text models that the chat channel may use.");
export const VoiceModel = enumOf("VoiceModel", "A text model that the voice channel may use.");
export const SmsModel = enumOf("SmsModel", "A text model that the SMS channel may use.");
export const ChatModel = enumOf("ChatModel", "A text model that the chat channel may use.");
export const SpeechProvider = enumOf("SpeechProvider", "A vendor of speech synthesis.");
export const Voice = enumOf("Voice", "A voice that speaks for the assistant.");

/** Puts the catalogue's identifiers into the enumerations; the schema is built after that. */
export function fillEnums({ providers, models, speechProviders, voices }: Catalog): void {
  fill(TextProvider, idsFor(providers, "VOICE"));
  fill(SmsProvider, idsFor(providers, "SMS"));
  fill(ChatProvider, idsFor(providers, "TEXT"));
  fill(VoiceModel, idsFor(models, "VOICE"));
  fill(SmsModel, idsFor(models, "SMS"));
  fill(ChatModel, idsFor(models, "TEXT"));
  fill(
    SpeechProvider,
    speechProviders.map(({ id }) => id),
  );
  fill(
    Voice,
    voices.map(({ id }) => id),
  );
}

export const Channel = enumOf("Channel", "A way to converse: by voice, in a text chat, by SMS.", CHANNELS);
export const BackgroundSound = enumOf("BackgroundSound", "What is heard behind the assistant's voice.", [
  "DEFAULT",
  "OFF",
  "OFFICE",
]);
export const ThemeMode = enumOf("ThemeMode", "What the widget offers: text, voice, or both.", [
  "CHAT_ONLY",
  "VOICE_ONLY",
  "VOICE_AND_CHAT",
]);
export const KeyType = enumOf(
  "KeyType",
  "What a key may do: SECRET everything, PUBLIC what the widget does on a web page.",
  ["SECRET", "PUBLIC"],
);
export const KeyStatus = enumOf("KeyStatus", "Whether a key opens anything now.", ["ACTIVE", "INACTIVE"]);
export const KeyPermission = enumOf(
  "KeyPermission",
  "What a key with limits may do: read records, write them, place and cancel calls, manage keys and tokens, manage webhooks, import records.",
  PERMISSIONS,
);
export const MessageRole = enumOf(
  "MessageRole",
  "Who speaks in a message. An assistant answers USER; the others are stored as they are.",
  ["ASSISTANT", "TOOL", "USER", "SYSTEM"],
);
export const SortOrder = enumOf("SortOrder", "By creation: the oldest first, or the newest first.", [
  "asc",
  "desc",
]);
