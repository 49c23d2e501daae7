import { diffArrays } from "diff";

/** Lines around a change. */
const CONTEXT = 2;
/** Moved lines up to which a plan shows what has stayed between them: the time grows with their square. */
const MAX_EDITS = 1000;

/** The lines that differ with those around them, each after its mark (" ", "-" or "+"); `…` stands for lines between them. */
export function changedLines(before: string, after: string): string[] {
  const all = compared(before.split("\n"), after.split("\n"));
  const shown = new Set<number>();
  for (const [index, line] of all.entries())
    if (!line.startsWith(" "))
      for (let near = index - CONTEXT; near <= index + CONTEXT; near++) if (near in all) shown.add(near);
  let last = -1;
  return [...shown].flatMap((index) => {
    const isApart = last >= 0 && index > last + 1;
    last = index;
    return isApart ? ["…", all[index]!] : [all[index]!];
  });
}

/** All lines with their marks. Those that only one of the texts has are set aside, because they differ anyway. */
function compared(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [placesOf(before, new Set(after)), placesOf(after, new Set(before))];
  const parts = diffArrays(
    old.map((place) => before[place]!),
    now.map((place) => after[place]!),
    { maxEditLength: MAX_EDITS },
  );
  const lines: string[] = [];
  let [left, right] = [0, 0];
  const passTo = (oldPlace: number, newPlace: number) => {
    while (left < oldPlace) lines.push(`-${before[left++]}`);
    while (right < newPlace) lines.push(`+${after[right++]}`);
  };
  let [oldDone, newDone] = [0, 0];
  for (const { added, removed, count } of parts ?? []) {
    if (!added && !removed)
      for (let index = 0; index < count; index++) {
        passTo(old[oldDone + index]!, now[newDone + index]!);
        lines.push(` ${before[left++]}`);
        right++;
      }
    if (!added) oldDone += count;
    if (!removed) newDone += count;
  }
  passTo(before.length, after.length);
  return lines;
}

/** The places of lines that the other text has, too. */
const placesOf = (lines: readonly string[], others: ReadonlySet<string>): number[] =>
  [...lines.keys()].filter((place) => others.has(lines[place]!));
