import { VARIABLE, type Surroundings } from "./resolve";

const isVariable = ([, escape]: RegExpMatchArray): boolean => escape === "";

/** Whether a text names environment variables. */
export const namesVariables = (text: string): boolean => [...text.matchAll(VARIABLE)].some(isVariable);

/** Whether a text with variables gives a value. A variable that is not set may have any value. */
export function canGive(text: string, value: string, environment: Surroundings["environment"]): boolean {
  let pattern = "";
  let end = 0;
  for (const match of text.matchAll(VARIABLE)) {
    const known = isVariable(match) ? environment[match[2]!] : match[0].slice(1);
    pattern += literal(text.slice(end, match.index)) + (known ? literal(known) : ".+");
    end = match.index + match[0].length;
  }
  return new RegExp(`^${pattern}${literal(text.slice(end))}$`, "s").test(value);
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
