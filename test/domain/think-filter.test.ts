import { expect, test } from "@jest/globals";
import { ThinkFilter } from "../../src/ports/think-filter";

/** What is shown of an answer that comes in these pieces. */
function shown(pieces: readonly string[]): string {
  const filter = new ThinkFilter();
  return [...pieces.map((piece) => filter.add(piece)), filter.end()].join("");
}

test.each([
  ["<think>Let me see.</think>\n\nWe open at nine.", "We open at nine."],
  ["We open <think>nine or ten?</think>at nine.", "We open at nine."],
  ["<THINK>a</Think>b<think>c</think>d", "bd"],
  ["<think></think>Yes.", "Yes."],
  ["<think>never ends", ""],
  ["1 < 2 and <th and <thin", "1 < 2 and <th and <thin"],
  ["  indented", "  indented"],
  ["<<think>x</think>>", "<>"],
  ["<think>a < b </thin </think>c", "c"],
  ["", ""],
])("of %j only what is said is shown, wherever it is cut", (answer, said) => {
  expect(shown([answer])).toBe(said);
  expect(shown([...answer])).toBe(said);
  for (let first = 0; first <= answer.length; first++)
    for (let second = first; second <= answer.length; second++)
      expect(shown([answer.slice(0, first), answer.slice(first, second), answer.slice(second)])).toBe(said);
});
