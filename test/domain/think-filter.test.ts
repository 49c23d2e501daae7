import { expect, test } from "@jest/globals";
import { ThinkFilter } from "../../src/platform/providers/think-filter";

/** The visible text of an answer that arrives in these pieces. */
function shown(pieces: readonly string[], thinks = false, cut = false): string {
  const filter = new ThinkFilter(thinks);
  let said = "";
  for (const piece of pieces) {
    const { text, withdrawn } = filter.add(piece);
    said = withdrawn ? text : said + text;
  }
  return said + filter.end(cut);
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
  ["Let me see.</think>\n\nWe open at nine.", "We open at nine."],
  ["</think>Yes.", "Yes."],
  ["a<think>b</think>c</THINK>d", "d"],
  ["<think>a<think>b</think>c</think>d", "d"],
  ["a</think><think>b</think>c", "c"],
  ["never says</think>", ""],
  ["", ""],
])("of %j only the answer is shown, wherever it is split", (answer, said) => {
  expect(shown([answer])).toBe(said);
  expect(shown([...answer])).toBe(said);
  for (let first = 0; first <= answer.length; first++)
    for (let second = first; second <= answer.length; second++)
      expect(shown([answer.slice(0, first), answer.slice(first, second), answer.slice(second)])).toBe(said);
});

test.each([
  ["Let me see.</think>\n\nWe open at nine.", false, "We open at nine."],
  ["<think>Let me see.</think>Nine.", false, "Nine."],
  ["We open at nine <b", false, "We open at nine <b"],
  ["Let me se", true, ""],
])("of %j, by a model known to think without <think>, split: %s", (answer, cut, said) => {
  for (let at = 0; at <= answer.length; at++)
    expect(shown([answer.slice(0, at), answer.slice(at)], true, cut)).toBe(said);
});
