import fc from "fast-check";

/** Texts that replace a marker: values that JSON.stringify cannot write, or that would make a report unreadable. */
const MARKERS: Readonly<Record<string, string>> = {
  "@1e999@": "1e999",
  "@-1e999@": "-1e999",
  "@digits@": "9".repeat(400),
  "@mebibyte@": JSON.stringify("x".repeat(1_048_576)),
  "@too much@": JSON.stringify("é".repeat(600_000)),
  "@deep object@": `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "@deep list@": `${"[".repeat(10_000)}1${"]".repeat(10_000)}`,
  "@many keys@": `{${Array.from({ length: 20_001 }, (_, n) => `"k${n}":1`).join(",")}}`,
};

/** JSON text of a value that may contain markers. */
export const hostileJson = (value: unknown): string =>
  (JSON.stringify(value) as string | undefined)?.replace(
    /"(@[^"@]+@)"/g,
    (text, marker: string) => MARKERS[marker] ?? text,
  ) ?? "";

const withOwn = (key: string, value: unknown) => Object.fromEntries([[key, value]]);

const ODD_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00x",
  "🎉",
  "é".repeat(300),
  "__proto__",
  "constructor",
  "null",
  "-1",
  "1e999",
  "'; drop table assistants; --",
  "<script>alert(1)</script>",
  "%00",
  "\u202egpj.exe",
  "http://[::1",
  "javascript:alert(1)",
  "300000000d",
];

const ODD_OBJECTS: readonly unknown[] = [
  {},
  withOwn("__proto__", { polluted: true }),
  { nested: withOwn("__proto__", 1) },
  { constructor: { prototype: {} } },
  { toString: null, hasOwnProperty: 1 },
  { "": "", "\0": 1 },
  { "\ud800": 1 },
  { a: "\0" },
  [],
  [null],
  [[]],
  [{}],
  ["x", 1, null, {}],
];

const ODD_NUMBERS = [0, -0, -1, 0.1, 2.0000001, 101, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 + 2, 1e308, -1e-320];

/** Of any code points. fast-check's own texts of this kind cost a map of all code points, which takes a second. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 40 })
  .map((points) => String.fromCodePoint(...points));

/** Any value that a client may send by mistake or with bad intent. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, ...ODD_NUMBERS) },
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...ODD_TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...ODD_OBJECTS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...Object.keys(MARKERS)) },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** One path segment or query value, as sent. */
export const hostileSegment: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...["%00", "%", "%zz", "%ff", "%ED%A0%80", "%2e%2e%2f%2e%2e", "..", "%F0%9F%8E%89", "0", "-1", "1.5"],
    ...[
      "__proto__",
      "constructor",
      "null",
      "undefined",
      "NaN",
      "abc",
      "%27%3B--",
      "a".repeat(3_000),
      "~",
      "+",
    ],
    ...["00000000-0000-0000-0000-000000000000", "0192f0c4-7d3a-7b41-9c55-2f6a1e0b9d11", "[]", "{}", "%20"],
  ),
  fc.string({ minLength: 1, maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
