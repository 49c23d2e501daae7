import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { EFFECTS } from "../../src/cli/effects";
import { emptyFolder, runAt, SERVER_TIMEOUT_MS } from "../support/server";

const { scripts } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
/** Programs by the name of their script; `docs` passes its arguments to another program. */
const PROGRAMS = Object.entries(scripts).flatMap(([name, text]) => {
  const program = /launch\.mjs (cli\/\S+)$/.exec(text)?.[1];
  return program === undefined ? [] : [[name, program] as const];
});

test("every command has a sentence about its effect", () => {
  expect(Object.keys(EFFECTS).sort()).toEqual(PROGRAMS.map(([, program]) => program).sort());
});

test(
  "--help of every command prints its usage and its effect, without a database",
  async () => {
    const cwd = emptyFolder();
    for (const [name, program] of PROGRAMS) {
      const { code, stdout, stderr } = await runAt({ cwd }, program, {}, "--help");
      expect({ name, code, stderr }).toEqual({
        name,
        code: 0,
        stderr: "",
      });
      expect(stdout).toMatch(new RegExp(`^Usage: npm run (--silent )?${name}\\b`));
      expect(stdout.trimEnd().endsWith(EFFECTS[program]!)).toBe(true);
    }
  },
  4 * SERVER_TIMEOUT_MS,
);
