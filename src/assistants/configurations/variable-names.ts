import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";

export const VARIABLE_NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_.]*$/u;
export const VARIABLE_NAME_RULE = "letters, digits, _ and ., and begin with a letter or _";
/** A variable in a text. The group is its name. */
export const PLACEHOLDER = /\{([\p{L}_][\p{L}\p{M}\p{N}_.]*)\}/gu;
/** A text that is a single variable. The group is its name. */
export const WHOLE_PLACEHOLDER = /^\{([\p{L}_][\p{L}\p{M}\p{N}_.]*)\}$/u;
/** Words in braces, as in `{{name}}` and `{first name}`. The group is what stands in single braces. */
const IN_BRACES = /\{\{[\p{L}\p{M}\p{N}_. -]*\}\}|\{([\p{L}\p{M}\p{N}_. -]*)\}/gu;

/** Names and their characters in one warning, which becomes a header. */
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 60;

/** The names of the variables in a text. */
export const namesIn = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);

/** Parts of a text that look like variables but are not, with their braces: `{first name}`, `{{name}}`. */
export function mistakesIn(text: string): string[] {
  if (!text.includes("{")) return [];
  return [...text.matchAll(IN_BRACES)].flatMap(([whole, single]) =>
    isWord(whole) && (single === undefined || !VARIABLE_NAME.test(single)) ? [whole] : [],
  );
}

/** Whether a text has a letter. `{2}` in a prompt is rarely meant as a variable. */
const isWord = (text: string) => /\p{L}/u.test(text);

/** The problems with the variables in a text, one for each. @param values undefined if they are not known */
export function variableProblems(text: string, values: JsonObject | null | undefined): string[] {
  const parts = new Set(mistakesIn(text));
  const mistakes = [...new Set([...parts].map(shortened))].map(mistake);
  if (values === undefined) return mistakes;
  const unset = [...new Set(namesIn(text))].filter(
    (name) => !Object.hasOwn(values ?? {}, name) && !parts.has(`{{${name}}}`),
  );
  const told = unset.map(
    (name) => `{${name}} has no test value: set one, or send a value with each chat, call or page.`,
  );
  return [...mistakes, ...told];
}

function mistake(part: string): string {
  const inner = part.slice(1, -1);
  return WHOLE_PLACEHOLDER.test(inner)
    ? `${part} is not a variable: ${inner} in it is replaced, and the outer braces stay. Write ${inner}.`
    : `${part} is not a variable: names consist of ${VARIABLE_NAME_RULE}, in single braces.`;
}

/** Warns the caller about keys of `variables` that no text can refer to. */
export function warnOfUnusableNames(scope: Scope, variables: JsonObject | null | undefined): void {
  const unusable = Object.keys(variables ?? {}).filter((name) => !VARIABLE_NAME.test(name));
  if (unusable.length === 0) return;
  const named = listed(unusable.map((name) => `"${shortened(name)}"`));
  scope.warn(
    `variables: No text can refer to these names: ${named}. Names consist of ${VARIABLE_NAME_RULE}.`,
  );
}

/** A list for a warning. @param most items; by default so many that it fits into a header */
export function listed(items: readonly string[], most = MAX_NAMES): string {
  const more = items.length > most ? `, and ${items.length - most} more` : "";
  return `${items.slice(0, most).join(", ")}${more}`;
}

export const shortened = (name: string): string =>
  name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}...` : name;
