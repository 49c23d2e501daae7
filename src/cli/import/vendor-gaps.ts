import { listed, shortened } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import type { Fields } from "./fields";
import { isObject } from "./source";

const SPOKEN = ["prompt", "initialMessage", "model", "temperature", "maxTokensOutput"];

/** Fields of the configurations that a vendor's assistants have, too. */
const FIELDS: FieldsByKind = {
  voice: [...SPOKEN, "voice", "backgroundSound", "backchanneling", "endCallMessage", "endCallPhrases"],
  sms: SPOKEN,
  chat: SPOKEN,
};

/** Names of fields by their configurations. */
export type FieldsByKind = Readonly<Record<string, readonly string[]>>;

/** The selection of fields of an assistant. */
export const selectionOf = (all: FieldsByKind): string =>
  Object.entries(all)
    .map(([kind, fields]) => `${kind} { ${fields.join(" ")} }`)
    .join(" ");

export const SELECTION = selectionOf(FIELDS);

/** The end of a note about a voice that does not exist here. */
const ANOTHER_SPEAKS = ": another one speaks.";

/** A note about a voice that does not exist here. */
export const noVoice = (path: string, voice: string): string =>
  `${path} is "${voice}", which is no voice here${ANOTHER_SPEAKS}`;

/** The same notes, in which one about a voice names the one that speaks instead. */
export const withSpokenVoice = (notes: readonly string[], stored: JsonObject): string[] =>
  notes.map((note) =>
    note.endsWith(ANOTHER_SPEAKS)
      ? `${note.slice(0, -ANOTHER_SPEAKS.length)}: ${shown(valueIn(stored, "voice", "voice"))} speaks instead.`
      : note,
  );

/** As `notesOfGaps`. @param notes sentences about the source, of which one about the voice is enough */
export function notesOfVendorGaps(input: JsonObject, stored: JsonObject, notes: readonly string[]): string[] {
  const isVoiceNoted = notes.some((note) => note.endsWith(ANOTHER_SPEAKS));
  return notesOfGaps(input, stored, FIELDS, (_, field) => field !== "voice" || !isVoiceNoted);
}

/** Sentences about fields for which the source has nothing that fits, with the values that the assistant has instead. */
export function notesOfGaps(
  input: JsonObject,
  stored: JsonObject,
  all: FieldsByKind,
  isGap: (value: unknown, field: string) => boolean,
): string[] {
  const kinds = new Map<string, string[]>();
  for (const [kind, fields] of Object.entries(all))
    for (const field of fields) {
      const instead = valueIn(stored, kind, field);
      if (valueIn(input, kind, field) !== undefined || !isGap(instead, field)) continue;
      const gap = `${field} has no value at the source that fits here: it is ${shown(instead)}`;
      kinds.set(gap, [...(kinds.get(gap) ?? []), kind]);
    }
  return [...kinds].map(([gap, of]) => `${gap} (${listed(of)}).`);
}

function valueIn(owner: JsonObject, kind: string, field: string): unknown {
  const configuration = owner[kind];
  return isObject(configuration) ? configuration[field] : undefined;
}

const shown = (value: unknown): string => {
  if (typeof value !== "string") return shortened(JSON.stringify(value));
  return /^[A-Z\d_]+$/.test(value) ? value : `"${shortened(value)}"`;
};

/** The name of an assistant; notes that it has none. */
export function nameOf(fields: Fields, path: string, otherwise: string, notes: string[]): string {
  const name = fields.text(path)?.trim();
  if (!name) notes.push(`${path} is not set: the assistant is named "${otherwise}".`);
  return name || otherwise;
}
