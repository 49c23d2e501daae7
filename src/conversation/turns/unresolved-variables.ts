import type { Assistant } from "../../assistants/assistants/assistants";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import { readFunction } from "../../assistants/configurations/functions";
import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { namesIn, namesInSchema } from "../functions/variables";

/** The conversation that is about to begin. */
interface Opening {
  readonly assistant: Pick<Assistant, "id" | "template" | "variables">;
  readonly channel: Channel;
  readonly variables?: JsonObject | null;
  /** Whether only the greeting is checked: a web page must not learn what the prompt contains. */
  readonly greetingOnly?: boolean;
}

/** Names and their characters in one warning, which becomes a header. */
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 60;

/** Warns the caller about variables without a value in the texts that the conversation is opened with. */
export async function warnOfUnresolved(
  scope: Scope,
  { assistant, channel, variables, greetingOnly = false }: Opening,
): Promise<void> {
  const configuration = await scope.of(Configurations).of(KIND_OF[channel], assistant);
  const { initialMessage, prompt, functions } = configuration;
  const texts: readonly (readonly [field: string, names: readonly string[]])[] = [
    ["initialMessage", namesIn(initialMessage)],
    ...(greetingOnly
      ? []
      : ([
          ["prompt", namesIn(prompt)],
          ["functions", functions.flatMap(namesInFunction)],
        ] as const)),
  ];
  const isKnown = (name: string) =>
    [variables, assistant.variables].some((values) => values != null && Object.hasOwn(values, name));
  const fields = new Map<string, Set<string>>();
  for (const [field, names] of texts)
    for (const name of names)
      if (!isKnown(name)) fields.set(name, (fields.get(name) ?? new Set()).add(field));
  if (fields.size > 0) scope.warn(unresolvedMessage(fields));
}

function namesInFunction(item: JsonObject): string[] {
  const declared = readFunction(item);
  if (typeof declared === "string") return [];
  return [...namesIn(declared.description), ...namesInSchema(declared.parameters)];
}

function unresolvedMessage(fields: ReadonlyMap<string, ReadonlySet<string>>): string {
  const shown = [...fields].slice(0, MAX_NAMES).map(([name, where]) => {
    const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name;
    return `{${short}} in ${[...where].join(" and ")}`;
  });
  const more = fields.size > MAX_NAMES ? `, and ${fields.size - MAX_NAMES} more` : "";
  return `Variables without a value stay as written: ${shown.join(", ")}${more}. Set them in variables of this request or of the assistant.`;
}
