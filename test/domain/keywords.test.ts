import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { firstNamed } from "../../src/channels/sms/words";

const word = fc.constantFrom("a", "b", "c", "Ä");
const phrase = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
const keywords = fc.array(phrase, { maxLength: 4 }).map((phrases) => phrases.join(","));

/** Runs code with a timeout, in case it does not terminate. */
const interrupted = <R>(run: () => R): R => runInNewContext("run()", { run }, { timeout: 20_000 }) as R; // as it returns it

/** A naive search: tests every keyword at every position. */
function naive(text: string, lists: readonly string[]): number | undefined {
  const words = text.toLowerCase().split(" ");
  for (let at = 0; at < words.length; at++) {
    const here = lists.map((list) =>
      list
        .toLowerCase()
        .split(",")
        .filter((one) => one !== "" && `${words.slice(at).join(" ")} `.startsWith(`${one} `))
        .reduce((longest, one) => Math.max(longest, one.split(" ").length), 0),
    );
    const longest = Math.max(0, ...here);
    if (longest > 0) return here.indexOf(longest);
  }
  return undefined;
}

describe("the first keyword in a text", () => {
  test("is the same as that of a naive search", () => {
    const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(text, fc.array(keywords, { maxLength: 4 }), (said, lists) => {
        const candidates = lists.map((keywords, index) => ({ keywords, index }));
        expect(firstNamed(said, candidates)?.index).toBe(naive(said, lists));
      }),
      { numRuns: 1_000 },
    );
  });

  const MIB = 1_048_576;
  const many = (part: (index: number) => string) => {
    let list = "";
    for (let index = 0; list.length < MIB; index++) list += `${part(index)},`;
    return list;
  };
  // A naive search takes minutes for these.
  test.each([
    ["many short ones", "a ".repeat(5_000), many(() => "b")],
    ["many that are all different", "word ".repeat(2_000), many((index) => `word ${index}`)],
    ["few long ones that almost match everywhere", "a ".repeat(5_000), many(() => `${"a ".repeat(2_500)}b`)],
    ["one", "a ".repeat(5_000), `${"a ".repeat(MIB / 2)}b`],
  ])("is searched in lists of 1 MiB: %s", (_what, text, keywords) => {
    const candidates = Array.from({ length: 5 }, () => ({ keywords }));
    expect(interrupted(() => firstNamed(text, candidates))).toBeUndefined();
    const found = interrupted(() => firstNamed(`${text}here`, [...candidates, { keywords: "here" }]));
    expect(found?.keywords).toBe("here");
  });
});
