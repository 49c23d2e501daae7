import type { Scope } from "../../platform/database/scope";
import { groupBy } from "../../platform/group-by";
import {
  functionOf,
  placesIn,
  STORED,
  type SecretPlace,
  type SecretsBySlot,
  type SpokenKind,
} from "./function-secrets";

/**
 * Slots of a list of functions that ask for a stored secret of which it is unclear whose it is: there were several functions
 * with this name and origin, with different secrets, and now there are more of them or fewer. Otherwise, the first one has
 * the secret of the first one, and so on.
 * @param before the list so far
 * @param stored secrets for which that list has `{"stored":true}`
 */
export function unclearSlotsIn(
  kind: SpokenKind,
  text: string,
  before: string,
  stored: SecretsBySlot = {},
): string[] {
  const [next, former] = [text, before].map((one) => byTwins(placesIn(kind, JSON.parse(one))));
  return [...next!].flatMap(([twins, places]) => {
    const old = former!.get(twins) ?? [];
    if (countOf(old) < 2 || countOf(old) === countOf(places) || isSame(old, stored)) return [];
    return places.filter(({ secret }) => secret === STORED).map(({ slot }) => slot);
  });
}

/** Warns the caller about slots of which it is unclear whose secrets they ask for. */
export function warnOfUnclearSecrets(scope: Scope, kind: SpokenKind, slots: readonly string[]): void {
  for (const name of new Set(slots.map((slot) => functionOf(slot).name)))
    scope.warn(
      `${kind}.functions: several functions had the name ${name} and one origin, so it is unclear whose secrets stay, and they have none. Send them again.`,
    );
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
