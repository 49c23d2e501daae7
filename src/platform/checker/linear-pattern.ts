import { RegExpParser, type AST } from "@eslint-community/regexpp";
import { RE2JS } from "re2js";

/** Longest supported pattern. */
const MAX_CHARACTERS = 2_000;
/** Upper limit for the instructions of a compiled pattern, which is also the limit of matching steps per character. */
const MAX_INSTRUCTIONS = 5_000;

/** A range of code points, both included. */
type Range = readonly [first: number, last: number];

const LAST_CODE_POINT = 0x10_ffff;
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
/** ECMAScript's white space; RE2's is ASCII only. */
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const SETS = { digit: DIGITS, word: WORD, space: SPACE } as const;

/** Short names of general categories; RE2 knows no others. */
const CATEGORIES: Readonly<Record<string, string>> = {
  ...{ Letter: "L", Uppercase_Letter: "Lu", Lowercase_Letter: "Ll", Titlecase_Letter: "Lt" },
  ...{ Modifier_Letter: "Lm", Other_Letter: "Lo", Mark: "M", Combining_Mark: "M", Nonspacing_Mark: "Mn" },
  ...{ Spacing_Mark: "Mc", Enclosing_Mark: "Me", Number: "N", Decimal_Number: "Nd", digit: "Nd" },
  ...{ Letter_Number: "Nl", Other_Number: "No", Punctuation: "P", punct: "P", Connector_Punctuation: "Pc" },
  ...{ Dash_Punctuation: "Pd", Open_Punctuation: "Ps", Close_Punctuation: "Pe", Initial_Punctuation: "Pi" },
  ...{ Final_Punctuation: "Pf", Other_Punctuation: "Po", Symbol: "S", Math_Symbol: "Sm" },
  ...{ Currency_Symbol: "Sc", Modifier_Symbol: "Sk", Other_Symbol: "So", Separator: "Z" },
  ...{ Space_Separator: "Zs", Line_Separator: "Zl", Paragraph_Separator: "Zp", Control: "Cc", cntrl: "Cc" },
};
const SHORT_CATEGORIES = new Set(Object.values(CATEGORIES));

/** The pattern cannot run in linear time or is too large. The message completes "The pattern …". */
export class UnsupportedPattern extends Error {}

/** An ECMAScript regular expression that runs in time linear in the length of the text. */
export class LinearPattern {
  /** Number of compiled instructions. */
  readonly size: number;
  private readonly program: RE2JS;

  /** @throws UnsupportedPattern */
  constructor(private readonly pattern: string) {
    if (pattern.length > MAX_CHARACTERS)
      throw new UnsupportedPattern(`is longer than ${MAX_CHARACTERS} characters`);
    const translated = alternatives(parse(pattern));
    try {
      this.program = RE2JS.compile(translated);
    } catch (error) {
      throw new UnsupportedPattern(`is not supported (${reasonOf(error)})`);
    }
    this.size = this.program.programSize();
    if (this.size > MAX_INSTRUCTIONS) throw new UnsupportedPattern("is too large once compiled");
  }

  test(text: string): boolean {
    return this.program.test(text);
  }

  toString(): string {
    return this.pattern;
  }
}

const reasonOf = (error: unknown): string => {
  const { message } = error as Error;
  return /^error parsing regexp: ([a-z -]+)/.exec(message)?.[1] ?? "unknown construct";
};

/** Parses with the flag `u`, as JSON Schema requires; if that fails, without it, since many schemas escape more than `u` allows. */
function parse(pattern: string): AST.Pattern {
  const parser = new RegExpParser({ ecmaVersion: 2024 });
  const read = (unicode: boolean) => parser.parsePattern(pattern, 0, pattern.length, { unicode });
  try {
    return read(true);
  } catch {
    if (/[\ud800-\udfff]/.test(pattern)) throw new UnsupportedPattern("is not a regular expression");
  }
  try {
    return read(false);
  } catch {
    throw new UnsupportedPattern("is not a regular expression");
  }
}

const alternatives = (node: { readonly alternatives: readonly AST.Alternative[] }): string =>
  node.alternatives.map(({ elements }) => elements.map(element).join("")).join("|");

function element(node: AST.Element): string {
  switch (node.type) {
    case "Assertion":
      return assertion(node);
    case "Backreference":
      throw new UnsupportedPattern("contains a backreference");
    case "Group":
      if (node.modifiers) throw new UnsupportedPattern("contains modifiers");
      return `(?:${alternatives(node)})`;
    case "CapturingGroup":
      return `(?:${alternatives(node)})`;
    case "Quantifier":
      return `(?:${element(node.element)})${quantifier(node)}`;
    case "Character":
      return character(node.value);
    case "CharacterSet":
      return node.kind === "any" ? `[${ranges(complement(LINE_ENDS))}]` : `[${member(node)}]`;
    case "CharacterClass":
      return characterClass(node);
    case "ExpressionCharacterClass":
      throw new UnsupportedPattern("contains set operations");
  }
}

function assertion(node: AST.Assertion): string {
  if (node.kind === "start") return "\\A";
  if (node.kind === "end") return "\\z";
  if (node.kind === "word") return node.negate ? "\\B" : "\\b";
  throw new UnsupportedPattern(`contains a ${node.kind}`);
}

/** Greediness is dropped: it has no influence on whether a text matches. */
function quantifier({ min, max }: AST.Quantifier): string {
  if (max !== Infinity) return `{${min},${max}}`;
  return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
}

function characterClass({ negate, elements }: AST.CharacterClass): string {
  if (elements.length === 0) return `[${negate ? "" : "^"}${ranges([[0, LAST_CODE_POINT]])}]`;
  return `[${negate ? "^" : ""}${elements.map(member).join("")}]`;
}

/** Translates a member of a character class. */
function member(node: AST.CharacterClass["elements"][number] | AST.CharacterSet): string {
  if (node.type === "Character") return character(node.value);
  if (node.type === "CharacterClassRange") return ranges([[node.min.value, node.max.value]]);
  if (node.type !== "CharacterSet") throw new UnsupportedPattern("contains set operations");
  if (node.kind === "property") return property(node);
  if (node.kind === "any") throw new UnsupportedPattern("is not supported"); // the parser never puts one into a class
  return ranges(node.negate ? complement(SETS[node.kind]) : SETS[node.kind]);
}

/** Translates `\p{L}`, `\p{Letter}`, `\p{gc=Lu}` or `\p{Script=Greek}`. RE2 itself rejects unknown scripts. */
function property({ key, value, negate }: AST.UnicodePropertyCharacterSet): string {
  const sign = negate ? "P" : "p";
  const isCategory = value === null || key === "General_Category" || key === "gc";
  const name = value ?? key;
  if (isCategory) {
    const short = CATEGORIES[name] ?? name;
    if (SHORT_CATEGORIES.has(short)) return `\\${sign}{${short}}`;
    if (name === "Any") return ranges(negate ? [] : [[0, LAST_CODE_POINT]]);
    if (name === "ASCII") return ranges(negate ? [[0x80, LAST_CODE_POINT]] : [[0, 0x7f]]);
  } else if (key === "Script" || key === "sc") return `\\${sign}{${name}}`;
  throw new UnsupportedPattern(`contains the unsupported property ${name}`);
}

/** All code points outside of sorted ranges. */
function complement(inside: readonly Range[]): Range[] {
  const starts = [0, ...inside.map(([, last]) => last + 1)];
  const ends = [...inside.map(([first]) => first - 1), LAST_CODE_POINT];
  return starts.map((start, index): Range => [start, ends[index]!]);
}

const ranges = (list: readonly Range[]): string =>
  list.map(([first, last]) => `${character(first)}-${character(last)}`).join("");

const character = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;
