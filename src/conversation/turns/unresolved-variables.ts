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
import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import type { MissingVariables } from "../../platform/database/tables/value-types";
import { DomainError } from "../../platform/errors";
import type { JsonObject } from "../../platform/json/json-object";
import { filledTexts, type FilledText } from "../../assistants/configurations/filled-texts";
import { valuesOf } from "../functions/variables";
import type { FirstSpeaker } from "../workflows/target";
import { promptTextsOf, settersOf } from "../workflows/unset-variables";

/** The conversation that is about to begin. */
interface Opening extends FirstSpeaker {
  readonly channel: Channel;
  readonly variables?: JsonObject | null;
  /** Whether only the greeting may be named: a web page must not learn what the prompt contains. */
  readonly greetingOnly?: boolean;
  /** Whether the conversation may be refused; default true. People who call or text cannot set variables. */
  readonly mayRefuse?: boolean;
}

/**
 * Warns the caller about variables without a value in the texts that the conversation is opened with.
 * @throws MISSING_VARIABLES if the assistant refuses such conversations
 */
export async function checkVariables(scope: Scope, opening: Opening): Promise<void> {
  const { speaker, variables, greetingOnly = false, mayRefuse = true } = opening;
  const refuses = mayRefuse && speaker.missingVariables === "REFUSE";
  const texts = await openingTexts(scope, opening, greetingOnly && !refuses);
  const shown = greetingOnly ? texts.filter(({ path }) => path === GREETING) : texts;
  const unset = unsetIn(opening);
  const unresolved = fieldsOf(shown, unset);
  if (refuses && texts.some(({ text }) => unset(text).length > 0)) throw missingVariables(unresolved);
  if (unresolved.size > 0) scope.warn(unresolvedMessage(unresolved, speaker));
  const mistakes = fieldsOf(shown, mistakesIn);
  if (mistakes.size > 0) scope.warn(mistakesMessage(mistakes));
  warnOfUnusableNames(scope, variables);
}

const GREETING = "initialMessage";
/** Names in one refusal. */
const MAX_DETAILS = 100;

/** The texts that the first assistant speaks with. The part of a workflow is named as such. */
async function openingTexts(
  scope: Scope,
  { speaker, channel, flow, firstNode }: Opening,
  greetingOnly: boolean,
): Promise<FilledText[]> {
  const configuration = await scope.of(PinnedAssistants).configuration(KIND_OF[channel], speaker);
  if (greetingOnly) return [{ path: GREETING, text: configuration.initialMessage }];
  const ofFlow = flow && firstNode ? promptTextsOf(flow, firstNode) : [];
  return [
    ...(await filledTexts(scope, configuration)),
    ...ofFlow.map((text) => ({ path: "workflow", text })),
  ];
}

/** The names in a text that nothing sets. */
function unsetIn({ speaker, flow, variables }: Opening): (text: string) => string[] {
  const values = valuesOf(variables, speaker);
  const isSetByFlow = flow ? settersOf(flow) : () => false;
  // With KEEP, only a name without any value stays as written: null becomes an empty text.
  const isFilled = (name: string) =>
    speaker.missingVariables === "KEEP" ? values.has(name) : values.isSet(name);
  return (text) => namesIn(text).filter((name) => !isFilled(name) && !isSetByFlow(name));
}

type Fields = ReadonlyMap<string, ReadonlySet<string>>;

/** The fields in which each part of a text occurs. */
function fieldsOf(texts: readonly FilledText[], partsOf: (text: string) => string[]): Fields {
  const fields = new Map<string, Set<string>>();
  for (const { path, text } of texts)
    for (const part of partsOf(text))
      fields.set(part, (fields.get(part) ?? new Set()).add(path.split(".", 1)[0]!));
  return fields;
}

const inFields = (part: string, fields: ReadonlySet<string>) => `${part} in ${[...fields].join(" and ")}`;

const namedIn = (found: Fields): string =>
  listed([...found].map(([name, fields]) => inFields(`{${shortened(name)}}`, fields)));

/** What happens to names without a value. */
const EFFECTS: Readonly<Record<MissingVariables, string>> = {
  KEEP: "stay as written",
  BLANK: "become empty",
  REFUSE: "are needed to start a conversation",
};

function unresolvedMessage(found: Fields, { missingVariables }: PinnedAssistant): string {
  const effect = EFFECTS[missingVariables];
  return `Variables without a value ${effect}: ${namedIn(found)}. Set them in variables of this request or of the assistant.`;
}

/** @param found empty if only texts use them that the caller must not know */
function missingVariables(found: Fields): DomainError {
  if (found.size === 0)
    return new DomainError(
      "MISSING_VARIABLES",
      "The assistant needs variables that this request does not set. AssistantVersion.variables lists them.",
    );
  return new DomainError(
    "MISSING_VARIABLES",
    `Variables without a value: ${namedIn(found)}. Set them in variables of this request or of the assistant.`,
    [...found].slice(0, MAX_DETAILS).map(([name, fields]) => ({
      path: `variables.${shortened(name)}`,
      message: `must have a value for ${[...fields].join(" and ")}`,
    })),
  );
}

function mistakesMessage(found: Fields): string {
  const parts = listed([...found].map(([part, fields]) => inFields(shortened(part), fields)));
  return `These are not variables: ${parts}. A variable is a name in single braces; names consist of ${VARIABLE_NAME_RULE}.`;
}
