import { KIND_OF } from "../../assistants/configurations/configurations";
import { PinnedAssistants, type PinnedAssistant } from "../../assistants/versions/pinned-assistants";
import {
  listed,
  mistakesIn,
  namesIn,
  shortened,
  VARIABLE_NAME_RULE,
  warnOfUnusableNames,
} from "../../assistants/configurations/variable-names";
import { readFunction } from "../../assistants/configurations/functions";
import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { textsOfSchema } from "../functions/variables";

/** The conversation that is about to begin. */
interface Opening {
  readonly assistant: Pick<PinnedAssistant, "id" | "template" | "variables" | "pin">;
  readonly channel: Channel;
  readonly variables?: JsonObject | null;
  /** Whether only the greeting is checked: a web page must not learn what the prompt contains. */
  readonly greetingOnly?: boolean;
}

/** Warns the caller about variables without a value in the texts that the conversation is opened with. */
export async function warnOfUnresolved(
  scope: Scope,
  { assistant, channel, variables, greetingOnly = false }: Opening,
): Promise<void> {
  const configuration = await scope.of(PinnedAssistants).configuration(KIND_OF[channel], assistant);
  const { initialMessage, prompt, functions } = configuration;
  const texts: FieldTexts[] = [["initialMessage", [initialMessage]]];
  if (!greetingOnly) texts.push(["prompt", [prompt]], ["functions", functions.flatMap(textsOf)]);
  const isKnown = (name: string) =>
    [variables, assistant.variables].some((values) => values != null && Object.hasOwn(values, name));
  const unresolved = fieldsOf(texts, (text) => namesIn(text).filter((name) => !isKnown(name)));
  if (unresolved.size > 0) scope.warn(unresolvedMessage(unresolved));
  const mistakes = fieldsOf(texts, mistakesIn);
  if (mistakes.size > 0) scope.warn(mistakesMessage(mistakes));
  warnOfUnusableNames(scope, variables);
}

type FieldTexts = readonly [field: string, texts: readonly string[]];
type Fields = ReadonlyMap<string, ReadonlySet<string>>;

/** The fields in which each part of a text occurs. */
function fieldsOf(texts: readonly FieldTexts[], partsOf: (text: string) => string[]): Fields {
  const fields = new Map<string, Set<string>>();
  for (const [field, inField] of texts)
    for (const part of inField.flatMap(partsOf)) fields.set(part, (fields.get(part) ?? new Set()).add(field));
  return fields;
}

function textsOf(item: JsonObject): string[] {
  const declared = readFunction(item);
  if (typeof declared === "string") return [];
  return [declared.description, ...textsOfSchema(declared.parameters)];
}

const inFields = (part: string, fields: ReadonlySet<string>) => `${part} in ${[...fields].join(" and ")}`;

function unresolvedMessage(found: Fields): string {
  const names = listed([...found].map(([name, fields]) => inFields(`{${shortened(name)}}`, fields)));
  return `Variables without a value stay as written: ${names}. Set them in variables of this request or of the assistant.`;
}

function mistakesMessage(found: Fields): string {
  const parts = listed([...found].map(([part, fields]) => inFields(shortened(part), fields)));
  return `These are not variables: ${parts}. A variable is a name in single braces; names consist of ${VARIABLE_NAME_RULE}.`;
}
