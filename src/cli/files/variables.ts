import { VARIABLE, type Surroundings } from "./resolve";

const isVariable = ([, escape]: RegExpMatchArray): boolean => escape === "";

/** Whether a text names environment variables. */
export const namesVariables = (text: string): boolean => [...text.matchAll(VARIABLE)].some(isVariable);

/** Whether a text with variables gives a value. A variable that is not set may have any value. */
export function canGive(text: string, value: string, environment: Surroundings["environment"]): boolean {
  const parts = partsOf(text, environment);
  const [first, last] = [parts.shift()!, parts.pop()];
  if (last === undefined) return value === first;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = value.indexOf(part, at + 1);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.endsWith(last) && value.length - last.length > at;
}

/** The known parts of a text, between which are variables that are not set. */
function partsOf(text: string, environment: Surroundings["environment"]): string[] {
  const parts: string[] = [];
  let part = "";
  let end = 0;
  for (const match of text.matchAll(VARIABLE)) {
    const known = isVariable(match) ? environment[match[2]!] : match[0].slice(1);
    part += text.slice(end, match.index) + (known ?? "");
    end = match.index + match[0].length;
    if (known) continue;
    parts.push(part);
    part = "";
  }
  return [...parts, part + text.slice(end)];
}
