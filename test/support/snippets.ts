import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "../..");

export interface Snippet {
  readonly page: string;
  readonly line: number;
  /** Language of the code block; empty if none is named. */
  readonly language: string;
  readonly code: string;
  /** Reason why the snippet cannot run here, from the comment `not run: …` before it. */
  readonly notRun?: string;
  /** Whether it is the answer of the snippet before it, according to the comment `answer`. */
  readonly isAnswer: boolean;
  /** Paths in the response that later snippets use as shell variables, from comments `NAME = path` after it. */
  readonly results: Readonly<Record<string, string>>;
}

/** Pages for users, whose snippets people copy. */
export const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The code blocks of a page, in order. */
export function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(root, page), "utf8");
  return [
    ...text.matchAll(
      /(?:<!-- not run: (.*) -->\n\n)?(<!-- answer -->\n\n)?^```(\w*)\n([^]*?)^```$((?:\n\n<!-- \w+ = .* -->)*)/gm,
    ),
  ].map(({ index, 1: notRun, 2: answer, 3: language = "", 4: code = "", 5: after = "" }) => ({
    page,
    line: text.slice(0, text.indexOf("```", index)).split("\n").length + 1,
    language,
    code,
    ...(notRun !== undefined && { notRun }),
    isAnswer: answer !== undefined,
    results: Object.fromEntries(
      [...after.matchAll(/<!-- (\w+) = (\S+) -->/g)].map(([, name, path]) => [name!, path!]),
    ),
  }));
}
