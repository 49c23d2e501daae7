import { quoted } from "../../platform/errors";

type Environment = Readonly<Record<string, string | undefined>>;

/** Has the form of a variable. After a further `$`, it is a text. */
const IN_BRACES = /(\$?)\$\{([^{}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface Part {
  /** As the file has it. */
  readonly whole: string;
  readonly index: number;
  readonly isEscaped: boolean;
  /** Name of the variable; undefined if the part is a text. */
  readonly name: string | undefined;
}

const partsIn = (text: string): Part[] =>
  [...text.matchAll(IN_BRACES)].map(({ 0: whole, 1: escape, 2: inside, index }) => {
    const isEscaped = escape !== "";
    return { whole, index, isEscaped, name: !isEscaped && NAME.test(inside!) ? inside : undefined };
  });

/** The text for which a part stands that is no variable. */
const literal = ({ whole, isEscaped }: Part): string => (isEscaped ? whole.slice(1) : whole);

/** The names of the environment variables in a text. */
export const variablesIn = (text: string): string[] => partsIn(text).flatMap(({ name }) => name ?? []);

/** Whether a text names environment variables. */
export const namesVariables = (text: string): boolean => variablesIn(text).length > 0;

/** Sentences about parts of a text that look like variables and are none. */
export const mistakenVariables = (text: string): string[] =>
  [...new Set(partsIn(text).flatMap((part) => ((part.name ?? part.isEscaped) ? [] : part.whole)))].map(
    (whole) =>
      `${quoted(whole)} is not a variable and is sent as it is: names consist of letters, digits and _, and begin with a letter or _. If it is meant so, write a further $ before it.`,
  );

/** The text with the values of the variables that it names. @returns the names of those that are not set, otherwise */
export function expanded(text: string, environment: Environment): string | readonly string[] {
  const unset = variablesIn(text).filter((name) => !environment[name]);
  return unset.length > 0 ? unset : knownParts(text, environment).join("");
}

/** The reverse of `expanded` for a text that names no variables. */
export const escaped = (text: string): string => text.replace(IN_BRACES, (whole) => `$${whole}`);

/** Whether a text with variables gives a value. A variable that is not set may have any value. */
export function canGive(text: string, value: string, environment: Environment): boolean {
  const parts = knownParts(text, environment);
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
function knownParts(text: string, environment: Environment): string[] {
  const parts: string[] = [];
  let known = "";
  let end = 0;
  for (const part of partsIn(text)) {
    const value = part.name === undefined ? literal(part) : environment[part.name];
    known += text.slice(end, part.index) + (value ?? "");
    end = part.index + part.whole.length;
    if (value) continue;
    parts.push(known);
    known = "";
  }
  return [...parts, known + text.slice(end)];
}
