import { describe, expect, test } from "@jest/globals";
import { isGsm, split } from "../../src/channels/sms/split";

/**
 * A segment of a long text has 153 units in the GSM alphabet, where some characters take two, or 67 in any other. A
 * character is never split between segments.
 */
function segmentsOf(text: string): number {
  const gsm = isGsm(text);
  const sizes = [...text].map((one) => (gsm ? ("^{}\\[~]|€\f".includes(one) ? 2 : 1) : one.length));
  if (sizes.reduce((sum, size) => sum + size, 0) <= (gsm ? 160 : 70)) return 1;
  let [segments, left] = [0, 0];
  for (const size of sizes) {
    if (size > left) [segments, left] = [segments + 1, gsm ? 153 : 67];
    left -= size;
  }
  return segments;
}
const withoutNumber = (part: string) => part.replace(/ \(\d+\/\d+\)$/, "");
const letters = (text: string) => text.replace(/\s/g, "");

const SENTENCE = "The shop in the old town opens at nine and closes late in the evening. ";
const texts: readonly (readonly [string, string])[] = [
  ["a long answer", SENTENCE.repeat(60)],
  ["paragraphs", `${SENTENCE.repeat(8)}\n\n`.repeat(9)],
  ["a word without end", "x".repeat(5_000)],
  ["emoji, families among them", "👨‍👩‍👧‍👦 ".repeat(400)],
  ["emoji", "😀".repeat(900)],
  ["characters of two units", "€[]{}~".repeat(800)],
  ["such characters in one text", "€".repeat(765)],
  ["a hundred parts and more", "word ".repeat(60_000)],
  ["another alphabet", "Магазин открывается в девять. ".repeat(120)],
  ["a huge answer", SENTENCE.repeat(900)],
];

describe("an answer by SMS", () => {
  test("stays one text if it can be sent as one", () => {
    expect(split("We open at 9.")).toEqual(["We open at 9."]);
    expect(split("  \n ")).toEqual([]);
    expect(split("y".repeat(1530))).toEqual(["y".repeat(1530)]);
    expect(split("y".repeat(1531))).toHaveLength(2);
    expect(split("ж".repeat(670))).toHaveLength(1);
    expect(split("ж".repeat(671))).toHaveLength(2);
  });

  test.each(texts)("%s is split into parts that can be sent, and nothing is lost", (_, text) => {
    const parts = split(text);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(1600);
      expect(segmentsOf(part)).toBeLessThanOrEqual(10);
      expect(part.isWellFormed()).toBe(true);
    }
    expect(letters(parts.map(withoutNumber).join(""))).toBe(letters(text));
    parts.forEach((part, index) => expect(part.endsWith(` (${index + 1}/${parts.length})`)).toBe(true));
  });

  test("is split between sentences, else between words", () => {
    for (const part of split(SENTENCE.repeat(60)).map(withoutNumber)) expect(part).toMatch(/evening\.$/);
    const words = "word ".repeat(900);
    for (const part of split(words).map(withoutNumber)) expect(part).toMatch(/^word( word)*$/);
  });

  test("is not split inside a combined character", () => {
    for (const part of split("👨‍👩‍👧‍👦".repeat(300)).map(withoutNumber)) expect(part).toMatch(/^(👨‍👩‍👧‍👦)+$/u);
  });

  test("is split between paragraphs if that adds no part", () => {
    const paragraph = `${SENTENCE.repeat(15).trim()}`;
    expect(split(`${paragraph}\n\n${paragraph}`)).toEqual([`${paragraph} (1/2)`, `${paragraph} (2/2)`]);
  });
});
