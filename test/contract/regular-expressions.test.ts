import { describe, expect, test } from "@jest/globals";
import { analyse } from "scslre";
import ts from "typescript";
import { each, sourceFiles } from "../support/source";

const files = sourceFiles("schema", "rest-compat", "src");
const place = (file: ts.SourceFile, node: ts.Node) =>
  `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;

/** Nodes of one kind in the whole source, with their positions. */
function all<N extends ts.Node>(is: (node: ts.Node) => node is N): [place: string, node: N][] {
  const found: [string, N][] = [];
  for (const file of files) each(file, (node) => void (is(node) && found.push([place(file, node), node])));
  return found;
}

const isMade = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === "RegExp";

/** Ways in which matching may take more than linear time. */
function superLinear(text: string): string[] {
  const [, source = "", flags = ""] = /^\/(.*)\/(\w*)$/s.exec(text) ?? [];
  const { reports } = analyse({ source, flags });
  return reports.map(({ type, exponential }) => (exponential ? `exponential ${type}` : type));
}

describe("regular expressions on untrusted text take linear time", () => {
  test("everywhere in the source", () => {
    const found = all(ts.isRegularExpressionLiteral);
    expect(found.length).toBeGreaterThan(100);
    const slow = found.map(([where, { text }]) => ({ where, text, ways: superLinear(text) }));
    expect(slow.filter(({ ways }) => ways.length > 0)).toEqual([]);
  });

  test.each(["/^(a+)+$/", "/\\s+$/", "/(a|a)*b/", "/a*a*b/"])("and %s would be detected", (text) => {
    expect(superLinear(text)).not.toEqual([]);
  });

  test("and untrusted text never becomes a regular expression", () => {
    const made = all(isMade).map(([where]) => where.split(":")[0]);
    // Built from our own constants.
    expect(made).toEqual([
      "src/platform/reader/html.ts",
      "src/platform/database/distributed/views.ts",
      "src/platform/database/embedded/postmaster.ts",
    ]);
  });
});
