import { equal, type Change } from "./changes";
import { nameOfFunction, type Fields } from "./kinds";
import { withoutOldAddresses } from "./masked";

/** A change for each function that differs, and one if they stand in another order. */
export function changesOfFunctions({ path, before, after }: Change): Change[] {
  const [old, now] = [byName((before ?? []) as readonly Fields[]), byName(after as readonly Fields[])];
  const shown = byName(withoutOldAddresses(before ?? [], after) as readonly Fields[]);
  const names = [...new Set([...now.keys(), ...old.keys()])];
  const changed = names.filter((name) => !equal(old.get(name), now.get(name), true));
  const orders = [old, now].map((all) => [...all.keys()].filter((name) => old.has(name) && now.has(name)));
  const [stood, stand] = orders.map((order) => order.join(", "));
  return [
    ...changed.map((name) => ({ path: [...path, name], before: shown.get(name), after: now.get(name) })),
    ...(stood === stand ? [] : [{ path: [...path, "(order)"], before: stood, after: stand }]),
  ];
}

/** Functions by their names, or by their places if they share a name or have none. */
function byName(functions: readonly Fields[]): Map<string, Fields> {
  const names = functions.map(nameOfFunction);
  return new Map(
    functions.map((one, index) => {
      const name = names[index]!;
      const isOwn = name !== "" && names.indexOf(name) === names.lastIndexOf(name);
      return [isOwn ? name : String(index), one];
    }),
  );
}
