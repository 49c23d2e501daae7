import { registerEnumType } from "type-graphql";
import type { Permission } from "../../src/account/auth/limits";
import {
  idsFor,
  type Catalog,
  type Channel as CatalogChannel,
  type ModelEntry,
} from "../../src/platform/catalog/load-catalog";

type Ids = Record<string, string>;
/** Descriptions by value. */
type Values = Readonly<Record<string, string>>;

/** The settings of each enum's values, by the enum, so that values can be filled in later. */
const settings = new WeakMap<Ids, Record<string, { readonly description: string }>>();

/** Creates an enum whose values equal their names. */
export function enumOf(name: string, description: string, values: Values = {}): Ids {
  const ids: Ids = {};
  const valuesConfig = {};
  settings.set(ids, valuesConfig);
  fill(ids, values);
  registerEnumType(ids, { name, description, valuesConfig });
  return ids;
}

function fill(ids: Ids, values: Values): void {
  const valuesConfig = settings.get(ids)!;
  for (const id of Object.keys(ids)) {
    delete ids[id];
    delete valuesConfig[id];
  }
  for (const [id, description] of Object.entries(values)) {
    ids[id] = id;
    valuesConfig[id] = { description };
  }
}

export const TextProvider = enumOf("TextProvider", "Provider of text models.");
export const SmsProvider = enumOf("SmsProvider", "Provider of text models for the SMS channel.");
export const ChatProvider = enumOf("ChatProvider", "Provider of text models for the chat channel.");
export const VoiceModel = enumOf("VoiceModel", "Text model for the voice channel.");
export const SmsModel = enumOf("SmsModel", "Text model for the SMS channel.");
export const ChatModel = enumOf("ChatModel", "Text model for the chat channel.");
export const ModelIdentifier = enumOf("ModelIdentifier", "Text model of any channel.");
export const SpeechProvider = enumOf("SpeechProvider", "Provider of speech synthesis.");
export const Voice = enumOf("Voice", "Voice of the assistant.");

/** Fills the enums with the identifiers of the catalog. Call it before the schema is built. */
export function fillEnums({ providers, models, speechProviders, voices }: Catalog): void {
  const among = <E extends { readonly id: string }>(
    entries: readonly E[],
    descriptionOf: (entry: E) => string,
    ids = entries.map(({ id }) => id),
  ) =>
    Object.fromEntries(
      entries.filter(({ id }) => ids.includes(id)).map((entry) => [entry.id, descriptionOf(entry)]),
    );
  const provider = ({ id }: { readonly id: string }) => `The provider ${id}.`;
  const model = ({ model, provider }: ModelEntry) =>
    `Answered by ${model} of ${provider}, unless the organization maps it to another model.`;
  fill(TextProvider, among(providers, provider, idsFor(providers, "VOICE")));
  fill(SmsProvider, among(providers, provider, idsFor(providers, "SMS")));
  fill(ChatProvider, among(providers, provider, idsFor(providers, "TEXT")));
  fill(ModelIdentifier, among(models, model));
  fill(VoiceModel, among(models, model, idsFor(models, "VOICE")));
  fill(SmsModel, among(models, model, idsFor(models, "SMS")));
  fill(ChatModel, among(models, model, idsFor(models, "TEXT")));
  fill(SpeechProvider, among(speechProviders, provider));
  fill(
    Voice,
    among(voices, ({ id, provider }) => `The voice ${id} of ${provider}.`),
  );
}

export const Channel = enumOf("Channel", "Channel of a conversation.", {
  VOICE: "Telephone calls and calls from web pages.",
  TEXT: "Text chats.",
  SMS: "SMS.",
} satisfies Record<CatalogChannel, string>);
export const BackgroundSound = enumOf("BackgroundSound", "Background sound of a call.", {
  DEFAULT: "The default of the voice engine.",
  OFF: "No background sound.",
  OFFICE: "Office sounds.",
});
export const ThemeMode = enumOf("ThemeMode", "Mode of the widget.", {
  CHAT_ONLY: "Text chats only.",
  VOICE_ONLY: "Voice only.",
  VOICE_AND_CHAT: "Voice and text chats.",
});
export const KeyType = enumOf("KeyType", "Type of a key.", {
  SECRET: "The key may run all operations.",
  PUBLIC: "The key may only run the operations that the widget needs on a web page.",
});
export const KeyStatus = enumOf("KeyStatus", "Status of a key.", {
  ACTIVE: "The key is accepted.",
  INACTIVE: "The key is refused.",
});
export const KeyPermission = enumOf("KeyPermission", "Permission of a key with limits.", {
  read: "Read records.",
  write: "Create, change and delete records.",
  calls: "Place and cancel calls.",
  keys: "Manage keys and tokens.",
  webhooks: "Manage webhook destinations and deliveries.",
  import: "Import records. Only the command line grants this permission.",
} satisfies Record<Permission, string>);
export const MessageRole = enumOf("MessageRole", "Author of a message.", {
  ASSISTANT: "The assistant. A posted message of this role is only stored.",
  TOOL: "A function, with its response. A posted message of this role is only stored.",
  USER: "The end user. The assistant answers a posted message of this role.",
  SYSTEM: "The system. A posted message of this role is only stored.",
});
export const SortOrder = enumOf("SortOrder", "Order by creation time.", {
  asc: "Oldest first.",
  desc: "Newest first.",
});
