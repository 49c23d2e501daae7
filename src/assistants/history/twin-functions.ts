import type { Scope } from "../../platform/database/scope";
import { groupBy } from "../../platform/group-by";
import {
  functionOf,
  lostSlotsIn,
  placesIn,
  STORED,
  warnOfLostSecrets,
  withoutRequests,
  type SecretPlace,
  type SecretsBySlot,
  type SpokenKind,
} from "./function-secrets";

/**
 * Slots of a list of functions that ask for a stored secret of which it is unclear whose it is: there are more or fewer
 * functions with this name and origin than before. If there are as many, the first one has the secret of the first one, and
 * so on; and it is clear if all of them had the same secret, unless several ask for that of a single one.
 * @param before the list so far, and secrets for which it has `{"stored":true}`
 * @param given secrets for which the new list has `{"stored":true}`, too
 */
export function unclearSlotsIn(
  kind: SpokenKind,
  text: string,
  before: { readonly functions: string; readonly secrets?: SecretsBySlot },
  given: SecretsBySlot = {},
): string[] {
  const [next, former] = [text, before.functions].map((one) => byTwins(placesIn(kind, JSON.parse(one))));
  return [...next!].flatMap(([twins, places]) => {
    const old = former!.get(twins) ?? [];
    const asking = places.filter(({ secret, slot }) => secret === STORED && !Object.hasOwn(given, slot));
    if (old.length === 0 || countOf(old) === countOf(places)) return [];
    const isClear = isSame(old, before.secrets ?? {}) && (countOf(old) > 1 || countOf(asking) === 1);
    const known = new Set(isClear ? old.map(({ slot }) => slot) : []);
    return asking.map(({ slot }) => slot).filter((slot) => !known.has(slot));
  });
}

/** Warns the caller about slots of which it is unclear whose secrets they ask for. */
export function warnOfUnclearSecrets(scope: Scope, kind: SpokenKind, slots: readonly string[]): void {
  for (const name of new Set(slots.map((slot) => functionOf(slot).name)))
    scope.warn(
      `${kind}.functions: several functions have or had the name ${name} and one origin, so it is unclear whose secrets stay, and they have none. Send them again.`,
    );
}

/**
 * A list of functions in which only those ask for a stored secret of which it is clear whose it is. Warns the caller about the others,
 * and about secrets that are not stored.
 */
export function withClearRequests(
  scope: Scope,
  kind: SpokenKind,
  asking: string,
  before: { readonly functions: string; readonly secrets: SecretsBySlot },
  given: SecretsBySlot,
): string {
  const unclear = unclearSlotsIn(kind, asking, before, given);
  warnOfUnclearSecrets(scope, kind, unclear);
  const text = withoutRequests(kind, asking, unclear);
  warnOfLostSecrets(scope, kind, lostSlotsIn(kind, text, { ...before.secrets, ...given }));
  return text;
}

const byTwins = (places: readonly SecretPlace[]): Map<string, SecretPlace[]> =>
  groupBy(places, ({ twins }) => twins);

const countOf = (places: readonly SecretPlace[]): number => new Set(places.map(({ index }) => index)).size;

/** Whether functions have the same secret, or none. */
function isSame(places: readonly SecretPlace[], stored: SecretsBySlot): boolean {
  const ofEach = groupBy(places, ({ index }) => String(index));
  const secrets = [...ofEach.values()].map((own) =>
    own
      .map(({ slot, secret }) => (secret === STORED ? stored[slot] : secret))
      .find((secret) => typeof secret === "string"),
  );
  return new Set(secrets).size === 1;
}
