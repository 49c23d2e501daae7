import type { OperationDefinitionNode } from "graphql";
import { nearest } from "../../platform/nearest";

/** Names of each kind that one response mentions, and characters of each name. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 60;

/**
 * One warning for each name, up to a limit, and one that counts the others.
 * @param sentence of a name, with the part of it to show
 * @param others the end of the last sentence
 */
export function someOf(
  names: readonly string[],
  sentence: (shown: string, name: string) => string,
  others: string,
): string[] {
  const named = names.slice(0, MAX_NAMED).map((name) => sentence(name.slice(0, MAX_NAME_LENGTH), name));
  const more = names.length - named.length;
  return more > 0 ? [...named, `${more} more ${others}.`] : named;
}

/** One warning for each unknown name of a request, up to a limit. @param advice a sentence, by name */
export const ignoredNames = (
  kind: string,
  unknown: readonly string[],
  advice: (name: string) => string,
): string[] =>
  someOf(
    unknown,
    (shown, name) => `The ${kind} ${shown} is unknown and was ignored. ${advice(name)}`,
    `${kind}s are unknown and were ignored`,
  );

/** The known name that was probably meant, or else all of them. @param taker what takes them */
export function guess(name: string, known: readonly string[], taker: string): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  return known.length === 0 ? `${taker} takes none.` : `${taker} takes ${known.join(", ")}.`;
}

/** One warning for each variable of a request that its operation does not declare. */
export function undeclaredVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: object,
): string[] {
  const declared = variableDefinitions.map(({ variable }) => variable.name.value);
  const unknown = Object.keys(sent).filter((name) => !declared.includes(name));
  return ignoredNames("variable", unknown, (name) => guess(name, declared, "The operation"));
}
