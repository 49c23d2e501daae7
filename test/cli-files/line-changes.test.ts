import { describe, expect, test } from "@jest/globals";
import { structuredPatch } from "diff";
import fc from "fast-check";
import { changedLines } from "../../src/cli/files/line-changes";

const numbered = (word: string, count: number) => Array.from({ length: count }, (_, n) => `${word} ${n}`);

describe("a plan shows of two texts", () => {
  test("the lines that differ, with two around them", () => {
    const before = ["a", "b", "c", "d", "", "e", "f", "g", "h", "i", "j"];
    const after = ["a", "b", "C", "d", "", "e", "f", "g", "h", "i", "j", "k"];
    expect(changedLines(before.join("\n"), after.join("\n"))).toEqual([
      " a",
      " b",
      "-c",
      "+C",
      " d",
      " ",
      "…",
      " i",
      " j",
      "+k",
    ]);
  });

  test("no more lines than differ", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d", "e", "")).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { hunks } = structuredPatch("", "", `${before}\n`, `${after}\n`, "", "", { context: 2 });
        const lines = changedLines(before, after);
        const count = (list: readonly string[], mark: string) =>
          list.filter((one) => one.startsWith(mark)).length;
        for (const mark of ["-", "+"])
          expect(count(lines, mark)).toBe(
            count(
              hunks.flatMap((hunk) => hunk.lines),
              mark,
            ),
          );
      }),
    );
  });

  test("all lines of a long text in which each one has changed, without searching for what they have in common", () => {
    const [before, after] = [numbered("old", 40_000), numbered("new", 40_000)];
    expect(changedLines(before.join("\n"), after.join("\n"))).toEqual([
      ...before.map((line) => `-${line}`),
      ...after.map((line) => `+${line}`),
    ]);
  });

  test("all lines of a long text whose order has changed", () => {
    const before = numbered("line", 20_000);
    expect(changedLines(before.join("\n"), before.toReversed().join("\n"))).toHaveLength(40_000);
  });
});
