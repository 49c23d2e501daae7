/** The lines that git writes around both sides of a merge conflict, in this order. */
const MARKERS = [/^<{7}(\s|$)/, /^={7}\s*$/, /^>{7}(\s|$)/];

/** A problem about a merge conflict that is left in a text. */
export const LEFT_CONFLICT = "The text contains a merge conflict: resolve it, and remove its markers.";

/**
 * The place of a merge conflict in a text, from 1; undefined if the text lacks one of its markers.
 * @param isIndented whether spaces may precede the markers
 */
export function conflictIn(text: string, isIndented = false): { line: number; column: number } | undefined {
  let found = 0;
  let place: { line: number; column: number } | undefined;
  for (const [index, whole] of text.split("\n").entries()) {
    const line = isIndented ? whole.trimStart() : whole;
    if (!MARKERS[found]!.test(line)) continue;
    place ??= { line: index + 1, column: whole.length - line.length + 1 };
    if (++found === MARKERS.length) return place;
  }
  return undefined;
}

/** The place of a merge conflict in a file, as `file:line:column`. */
export function placeOfConflict(path: string, content: Buffer): string | undefined {
  const place = conflictIn(content.toString());
  return place && `${path}:${place.line}:${place.column}`;
}
