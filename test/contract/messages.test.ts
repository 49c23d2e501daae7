import { writeFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { messages, unseenErrors } from "../support/messages";

const all = messages();

/** `npm run messages` prints every message of the source: place, kind, code, text. */
if (process.env.MESSAGES !== undefined) {
  const rows = all.map(({ place, kind, code, text }) =>
    [place, kind, code, JSON.stringify(text)].join(" | "),
  );
  writeFileSync(process.env.MESSAGES, `${rows.join("\n")}\n${all.length} messages\n`);
}

test("every error of the source is in the table", () => {
  expect(all.length).toBeGreaterThan(500);
  expect(unseenErrors()).toEqual([]);
});
