import type { JsonObject } from "../../platform/json/json-object";
import type { Report } from "./report";
import { isObject, isTooDeep, objectsIn, textOf } from "./source";
import { isOf, nounOf, type Mapped, type Vendor, type VendorImport } from "./vendor";
import { notesOfVendorGaps, SELECTION, withSpokenVoice } from "./vendor-gaps";
import { defined } from "./work";

const STORE = `mutation ImportAssistant($input: ImportAssistantInput!) {
  importAssistant(input: $input) { id configurationWarnings { path code message } ${SELECTION} } }`;

/** Stores assistants, and lists what they have no place for. */
export async function storeAssistants(
  { target, report, progress }: VendorImport,
  vendor: Vendor,
  given: readonly unknown[],
  map: (assistant: JsonObject) => Mapped,
): Promise<void> {
  const known = await target.assistantIds();
  const places = new Map<string, number>();
  for (const [index, assistant] of given.entries()) {
    progress(`Assistants: ${index + 1} of ${given.length}`);
    const refuse = (problem: string, id?: string) => report.refuse(`Entry ${index + 1} ${problem}`, id);
    if (!isObject(assistant)) refuse("is no object.");
    else if (!isOf(vendor, assistant)) refuse(`is no ${nounOf(vendor)}.`);
    else if (isTooDeep(assistant)) refuse("has values that are nested too deeply.");
    else {
      const mapped = map(assistant);
      const id = textOf(mapped.input.id) ?? "";
      const first = places.get(id);
      places.set(id, first ?? index + 1);
      if (id === "") refuse(withoutId(vendor));
      else if (first !== undefined)
        refuse(
          `has the id of entry ${first}: it was left out. Name a file that has each ${vendor.noun} once.`,
          id,
        );
      else {
        const input = defined(mapped.input);
        const result = await target.store("assistant", id, STORE, { input });
        if (!result) continue;
        report[known.has(id) ? "unchanged" : "stored"]("assistants");
        list(report, vendor, { ...mapped, input }, result.importAssistant as JsonObject);
      }
    }
  }
}

const withoutId = ({ id, noun }: Vendor): string =>
  `has no ${id}. Add one to the file: any text of at most 255 characters that no other ${noun} has. Another import with the same ${id} changes the same assistant.`;

/** Lists what a stored assistant has not taken over, by the side whose fields a sentence names. */
function list(report: Report, vendor: Vendor, { input, notes, remarks }: Mapped, stored: JsonObject): void {
  const id = input.id as string; // checked before it was stored
  for (const remark of remarks) report.note(remark, id);
  for (const note of withSpokenVoice(notes, stored)) report.of(vendor.name).note(note, id);
  for (const note of [...notesOfUnusable(stored), ...notesOfVendorGaps(input, stored, notes)])
    report.of("Parley").note(note, id);
}

/** Sentences about functions that do not work here, each once: all channels have the same ones. */
function notesOfUnusable({ configurationWarnings }: JsonObject): Set<string> {
  const unusable = objectsIn(configurationWarnings).filter(({ code }) => /^FUNCTION_/.test(code as string));
  return new Set(unusable.map(({ path, message }) => `${path as string}: ${message as string}`));
}
