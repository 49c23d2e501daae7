import compare from "damerau-levenshtein";

/** Maximum number of edits of a misspelled name, by its length. Two swapped neighboring characters are one edit. */
const tolerance = (name: string): number => (name.length < 6 ? 1 : name.length < 12 ? 2 : 3);

/** Longer names are not compared: the work grows with the length. */
const MAX_LENGTH = 100;

/** The known name that was probably meant; undefined if none is similar. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = plain(name);
  const ranked = known
    .map((one) => ({ one, apart: compare(wanted, plain(one)).steps }))
    .sort((a, b) => a.apart - b.apart);
  const [best] = ranked;
  return best && best.apart <= tolerance(name) ? best.one : undefined;
}
