import { describe, expect, test } from "@jest/globals";
import { wholeTranscript, type TimedUtterance } from "../../src/channels/calls/whole-transcript";
import type { Utterance } from "../../src/platform/ports/voice-engine";

const user = (text: string, at?: number): TimedUtterance => ({
  role: "USER",
  text,
  ...(at !== undefined && { at }),
});
const bot = (text: string, at?: number): TimedUtterance => ({
  role: "ASSISTANT",
  text,
  ...(at !== undefined && { at }),
});
const lines = (heard: readonly TimedUtterance[], told: readonly Utterance[]) =>
  wholeTranscript(heard, told).map(({ role, text }) => `${role}: ${text}`);

/** All orders of a list. */
const orders = <T>(list: readonly T[]): T[][] =>
  list.length === 0
    ? [[]]
    : list.flatMap((one, index) => orders(list.toSpliced(index, 1)).map((rest) => [one, ...rest]));

describe("the whole transcript of a call", () => {
  test.each<[string, readonly TimedUtterance[], readonly Utterance[], readonly string[]]>([
    [
      "takes messages without a transcript from the report",
      [user("When do you open?", 2)],
      [bot("Hello."), user("When do you open?"), bot("At nine.")],
      ["ASSISTANT: Hello.", "USER: When do you open?", "ASSISTANT: At nine."],
    ],
    [
      "keeps transcripts separate that the report joins",
      [bot("I am Ada.", 2), bot("Hello!", 1)],
      [bot("Hello! I am Ada. How can I help?")],
      ["ASSISTANT: Hello!", "ASSISTANT: I am Ada.", "ASSISTANT: How can I help?"],
    ],
    [
      "finds a transcript that the report splits",
      [bot("Hello! I am Ada.", 1)],
      [bot("Hello!"), bot("I am Ada."), user("Hi.")],
      ["ASSISTANT: Hello! I am Ada.", "USER: Hi."],
    ],
    [
      "keeps repeated messages",
      [user("Hello?", 1), user("Hello?", 5), bot("Yes.", 3)],
      [user("Hello?"), bot("Yes."), user("Hello?")],
      ["USER: Hello?", "ASSISTANT: Yes.", "USER: Hello?"],
    ],
    [
      "does not match a short answer with part of a longer sentence",
      [user("Yes.", 5), user("Yes, tomorrow.", 1)],
      [user("Yes, tomorrow."), bot("At nine?"), user("Yes.")],
      ["USER: Yes, tomorrow.", "ASSISTANT: At nine?", "USER: Yes."],
    ],
    [
      "orders messages by time without a report",
      [bot("At nine.", 3), bot("Hello.", 1), user("When?", 2)],
      [],
      ["ASSISTANT: Hello.", "USER: When?", "ASSISTANT: At nine."],
    ],
    [
      "places a transcript that the report lacks by time",
      [user("When?", 2), user("Hello?", 0), bot("At nine.", 3)],
      [user("When?"), bot("At nine.")],
      ["USER: Hello?", "USER: When?", "ASSISTANT: At nine."],
    ],
    [
      "matches words that the report spells differently",
      [user("I would like a table for two at eight please", 2)],
      [bot("Hello."), user("I would like a table for 2 at 8, please."), bot("Done.")],
      ["ASSISTANT: Hello.", "USER: I would like a table for two at eight please", "ASSISTANT: Done."],
    ],
    ["keeps words without letters", [], [user("👍"), bot("…")], ["USER: 👍", "ASSISTANT: …"]],
  ])("%s, in whatever order the parts arrive", (_, heard, told, wanted) => {
    for (const order of orders(heard)) expect(lines(order, told)).toEqual(wanted);
  });
});
