import { expect, test } from "@jest/globals";
import ts from "typescript";
import { each, sourceFiles } from "../support/source";

/** Browser programs, which have no database. */
const BROWSER = /^src\/web\//;

/** Files that may read the process's own clock, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  "src/platform/clock.ts": "measures how far the process's clock is from the database's",
};

/** Reads of the process's clock. Durations use `performance.now()`; all other times are compared with stored ones. */
function clockReads(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const note = (node: ts.Node) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${file.fileName}:${line + 1}: ${node.getText().slice(0, 60)}`);
  };
  each(file, (node) => {
    if (ts.isPropertyAccessExpression(node)) {
      const { expression, name } = node;
      if (/^(globalThis\.)?Date$/.test(expression.getText()) && name.text === "now") note(node);
      if (expression.getText() === "performance" && name.text === "timeOrigin") note(node);
      if (expression.getText() === "process" && /^(hrtime|uptime)$/.test(name.text)) note(node);
    }
    if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return;
    const called = node.expression.getText();
    const given = node.arguments?.length ?? 0;
    if (/^(globalThis\.)?Date$/.test(called) && (given === 0 || ts.isCallExpression(node))) note(node);
    // Without an argument, these use the process's clock.
    if (called.endsWith(".setIssuedAt") && given === 0) note(node);
    if (called === "jwtVerify" && !node.getText().includes("currentDate:")) note(node);
    if (called === "v7" && given === 0) note(node);
  });
  return found;
}

const parsed = (text: string) => ts.createSourceFile("example.ts", text, ts.ScriptTarget.Latest, true);

test.each([
  "const now = Date.now();",
  "const now = globalThis.Date.now();",
  "const read = Date.now;",
  "const now = new Date();",
  "const now = new Date;",
  "const now = Date();",
  "const began = performance.timeOrigin;",
  "new SignJWT({}).setIssuedAt();",
  "jwtVerify(token, key, { algorithms: [] });",
  "const id = v7();",
])("a read of the process's clock is detected: %s", (text) => {
  expect(clockReads(parsed(text))).toHaveLength(1);
});

test("durations and stored times do not count as reads of the clock", () => {
  const text =
    "const took = performance.now() - began; const at = new Date(row.createdAt); Date.parse(text);";
  expect(clockReads(parsed(text))).toEqual([]);
});

test("no decision on the server depends on the process's clock", () => {
  const files = sourceFiles("schema", "rest-compat", "src").filter(({ fileName }) => !BROWSER.test(fileName));
  expect(files.length).toBeGreaterThan(80);
  const reading = files.filter((file) => clockReads(file).length > 0);
  expect(reading.filter(({ fileName }) => !ALLOWED[fileName]).flatMap(clockReads)).toEqual([]);
  expect(reading.map(({ fileName }) => fileName).sort()).toEqual(Object.keys(ALLOWED).sort());
});
