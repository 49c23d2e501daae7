import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root";

const BUNDLE = join(ROOT, "dist/bundle/own.cjs");

let lines: readonly string[] | undefined;

/** The lines of the bundle; undefined if it cannot be read, such as during a build or without a free file handle. */
function linesOfBundle(): readonly string[] | undefined {
  try {
    return readFileSync(BUNDLE, "utf8").split("\n");
  } catch {
    return undefined;
  }
}

/** The source of a line of the bundle, in which a comment with its path begins each module. */
function sourceAt(line: number): string | undefined {
  lines ??= linesOfBundle();
  const start = lines?.slice(0, line).findLast((text) => text.startsWith("// dist/"));
  return start?.replace(/^\/\/ dist\/(.*)\.js$/, "$1.ts");
}

/** Adds the source file to each line of a stack that is in the bundle of our code. */
export const withSources = (stack: string): string =>
  stack
    .split("\n")
    .map((frame) => {
      const [, line] = frame.includes(BUNDLE) ? (/:(\d+):\d+\)?$/.exec(frame) ?? []) : [];
      const source = line === undefined ? undefined : sourceAt(Number(line));
      return source === undefined ? frame : frame.replace(BUNDLE, `${source}, ${BUNDLE}`);
    })
    .join("\n");
