import { writeFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { messages, unseenErrors, type Message } from "../support/messages";

const all = messages();

/** `npm run messages` prints every message of the source: place, kind, code, text. */
if (process.env.MESSAGES !== undefined) {
  const rows = all.map(({ place, kind, code, text }) =>
    [place, kind, code, JSON.stringify(text)].join(" | "),
  );
  writeFileSync(process.env.MESSAGES, `${rows.join("\n")}\n${all.length} messages\n`);
}

const placed = (found: readonly Message[]) => found.map(({ place, text }) => `${place}: ${text}`);
const of = (...kinds: readonly Message["kind"][]) => all.filter(({ kind }) => kinds.includes(kind));

test("every error of the source is in the table", () => {
  expect(of("error").length).toBeGreaterThan(200);
  expect(unseenErrors()).toEqual([]);
});

describe("messages follow the rules of style:", () => {
  /** Words that say nothing, blame, or belong to no reader. */
  const FORBIDDEN =
    /\b(please|oops|invalid input|something went wrong|an error occurred|illegal|whoever|that which|behind it|of ours|what is no|not un\w+|cannot not)\b/i;

  test("no empty phrases, double negatives or words without a meaning for a reader", () => {
    const spoken = /words\.ts|apology\.ts|simulated-call\.ts/; // said to people who text or call
    const found = all.filter(({ place, text }) => FORBIDDEN.test(text) && !spoken.test(place));
    expect(placed(found)).toEqual([]);
  });

  /** Ends of a class of messages that continue a sentence of ours: "The parameters hold …". */
  const CONTINUES: readonly string[] = ["UnsupportedPattern"];
  /** Errors of a wrong route or an interrupted form: a prefix or a file name is added or begins them. */
  const FRAGMENTS = /^(it ended early$|rest-compat\/)/;

  test("an error is a sentence: it begins with a capital letter, a name or a value, and ends with a full stop", () => {
    const isSentence =
      /^([A-Z"`{]|--|[a-z]+[A-Z]).*([.?…)]|:\n.*|\}|npm rebuild \{name\}|USAGE\}|npm run [\w: -]+)$/s;
    const found = of("error").filter(
      ({ code, text }) => !CONTINUES.includes(code) && !FRAGMENTS.test(text) && !isSentence.test(text),
    );
    expect(placed(found)).toEqual([]);
  });

  test("a problem continues the path of its value: it begins with a verb and has no full stop", () => {
    const verb =
      /^(\{|must|is|are|does|has|exceeds|names|contains|the (body|form|request)|set|identify|give|[A-Z]\w+ (is|must|cannot) )/;
    const found = of("problem", "setting").filter(
      ({ text }) => (!verb.test(text) || /[^.…]\.$/.test(text)) && !PROVIDER.test(text),
    );
    expect(placed(found)).toEqual([]);
  });
  /** Of records about a call, not of a request. */
  const PROVIDER = /^The voice engine/;

  test("a line of the log begins with a lower-case letter or is a sentence", () => {
    const found = of("log").filter(({ text }) => !/^[a-z{][^.]*$|^[A-Z].*\.$/.test(text));
    expect(placed(found)).toEqual([]);
  });
});
