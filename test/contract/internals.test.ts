import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";

/** Internals of packages and of Node: what names them, and the folder that may. Each has a README that justifies it. */
const INTERNALS: readonly { readonly what: string; readonly pattern: RegExp; readonly folder: string }[] = [
  {
    what: "private tables of graphile-worker",
    pattern: /_private_/,
    folder: "src/platform/database/private-job-tables",
  },
];

const MAX_README_LINES = 20;

/** Files of the program, but not migrations, which stay as they were published. */
const files = ["src", "schema", "rest-compat"].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((name) => /\.(ts|tsx|mjs|cjs)$/.test(name) && !name.includes("/migrations/")),
);
const namers = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, "utf8")));

describe.each(INTERNALS)("$what", ({ pattern, folder }) => {
  test("are used in one folder only", () => {
    expect([...new Set(namers(pattern).map(dirname))]).toEqual([folder]);
  });

  test(`have a README of at most ${MAX_README_LINES} lines`, () => {
    const lines = readFileSync(join(folder, "README.md"), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(MAX_README_LINES);
  });
});

test("only one file of the tests names private tables of graphile-worker", () => {
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" }).map((name) => join("test", name));
  const sources = tests.filter((name) => name.endsWith(".ts") && name !== "test/contract/internals.test.ts");
  const naming = sources.filter((name) => readFileSync(name, "utf8").includes("_private_"));
  expect(naming).toEqual(["test/support/jobs.ts"]);
});
