import { shortened } from "../../assistants/configurations/variable-names";
import {
  functionOf,
  secretsIn,
  SPOKEN_KINDS,
  storedSlotsIn,
} from "../../assistants/history/function-secrets";
import type { JsonObject } from "../../platform/json/json-object";
import { exactJson } from "../../platform/json/json-source";
import { isObject } from "../import/source";

/** The slots of functions of which the folder has the secret: those of the assistant as it is now. */
export const slotsWithSecret = (assistant: JsonObject): Set<string> =>
  new Set(eachList(assistant, (kind, text) => Object.keys(secretsIn(kind, text))));

/** Sentences about functions of a version whose secrets are not in the folder. @param known `slotsWithSecret` */
export const missingInVersion = (document: JsonObject, known: ReadonlySet<string>): string[] =>
  eachList(document, storedSlotsIn)
    .filter((slot) => !known.has(slot))
    .map(
      (slot) =>
        `${nameOf(slot)} has no secret in the folder. It is called without one, unless one is stored here for this name and address.`,
    );

/** The same of a draft, which may also have another secret than the assistant for the same function. */
export const missingInDraft = (document: JsonObject, known: ReadonlySet<string>): string[] => [
  ...missingInVersion(document, known),
  ...eachList(document, storedSlotsIn)
    .filter((slot) => known.has(slot))
    .map(
      (slot) =>
        `${nameOf(slot)} has the secret of the assistant, as the folder has none of drafts. If the draft has another one, enter it again.`,
    ),
];

function nameOf(slot: string): string {
  const { kind, name } = functionOf(slot);
  return `The function ${shortened(name)} in ${kind}.functions`;
}

function eachList(
  document: JsonObject,
  slotsIn: (kind: (typeof SPOKEN_KINDS)[number], text: string) => string[],
): string[] {
  return SPOKEN_KINDS.flatMap((kind) => {
    const configuration = document[kind];
    return isObject(configuration) && Array.isArray(configuration.functions)
      ? slotsIn(kind, exactJson(configuration.functions))
      : [];
  });
}
