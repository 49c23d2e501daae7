import type { Scope } from "./scope";

/** Where the next request continues a search that ended early, by the warnings of the response that say so. */
const places = new WeakMap<readonly string[], string>();

/** Notes the last record that was searched for this response. */
export const continueAfter = (scope: Pick<Scope, "warnings">, id: string): void =>
  void places.set(scope.warnings, id);

/** The last record that was searched for this response; undefined if the search was complete. */
export const continuationOf = ({ warnings }: Pick<Scope, "warnings">): string | undefined =>
  places.get(warnings);
