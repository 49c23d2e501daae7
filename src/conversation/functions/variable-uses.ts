import type { ChannelConfiguration } from "../../assistants/configurations/configurations";
import { filledTexts } from "../../assistants/configurations/filled-texts";
import { namesIn } from "../../assistants/configurations/variable-names";
import { SPOKEN_KINDS } from "../../assistants/history/function-secrets";
import type { Document } from "../../assistants/versions/document";
import type { Scope } from "../../platform/database/scope";
import { Values } from "./variables";

/** A variable in the texts of an assistant. */
export interface VariableUse {
  readonly name: string;
  /** Paths of the texts in the document, in its order. */
  readonly used: readonly string[];
  /** Whether the assistant has a value for it. */
  readonly hasValue: boolean;
}

/** The variables that a document uses, by name. */
export async function variableUses(scope: Scope, document: Document): Promise<VariableUse[]> {
  const paths = new Map<string, Set<string>>();
  for (const kind of SPOKEN_KINDS) {
    const configuration = document[kind] as unknown as ChannelConfiguration; // a version has all columns
    for (const { path, text } of await filledTexts(scope, configuration))
      for (const name of namesIn(text))
        paths.set(name, (paths.get(name) ?? new Set()).add(`${kind}.${path}`));
  }
  const values = new Values([document.variables]);
  return [...paths]
    .map(([name, used]) => ({ name, used: [...used], hasValue: values.isSet(name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
