import { afterAll, describe, expect, test } from "@jest/globals";
import { threadChecker } from "../../src/platform/providers/thread-checker";

const checker = threadChecker();
afterAll(() => checker.close());

const SLOW = "take too long to check";

/** A schema whose check takes 3 to the power of `depth` steps. */
function exponential(depth: number, mark: string): object {
  const $defs: Record<string, object> = { d0: { title: mark } };
  for (let level = 1; level <= depth; level++) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { allOf: [below, below, below] };
  }
  return { type: "object", $defs, allOf: [{ $ref: `#/$defs/d${depth}` }] };
}

describe("a schema", () => {
  test.each<[string, object, string | undefined]>([
    ["that is plain", { type: "object", properties: { day: { type: "string" } } }, undefined],
    ["with a hostile pattern", { properties: { a: { type: "string", pattern: "^(a+)+$" } } }, undefined],
    [
      "with a backreference",
      { properties: { a: { type: "string", pattern: "(a)\\1" } } },
      'contain the pattern "(a)\\1", which contains a backreference',
    ],
    [
      "with a lookahead among patternProperties",
      { patternProperties: { "^(?=a)": { type: "string" } } },
      'contain the pattern "^(?=a)", which contains a lookahead',
    ],
    [
      "with a pattern deep inside",
      { properties: { a: { type: "object", properties: { b: { items: { pattern: "(" } } } } } },
      'contain the pattern "(", which is not a regular expression',
    ],
    ["that is none", { type: "nothing" }, "are not a JSON Schema"],
    ["of an unknown kind", { $schema: "https://example.com/schema" }, "are not a JSON Schema"],
    ["that refers to nothing", { $ref: "#/$defs/nothing" }, "are not a JSON Schema"],
    ["that is asynchronous", { $async: true, type: "object" }, "are not a JSON Schema"],
    ["that refers to itself", { $ref: "#" }, "refer to themselves without end"],
    ["that takes exponential time", exponential(30, ""), SLOW],
    [
      "that is too long",
      { properties: { a: { type: "string", description: "x".repeat(270_000) } } },
      "are longer than 262144 characters",
    ],
    [
      "with many large patterns",
      {
        properties: Object.fromEntries(
          Array.from({ length: 15 }, (_, at) => [`p${at}`, { pattern: `${at}[a-z]{900}` }]),
        ),
      },
      expect.stringContaining("all patterns together are too large") as unknown as string,
    ],
  ])("%s", async (_what, schema, problem) => {
    expect(await checker.problemOf("one", schema)).toEqual(problem);
    const violation = await checker.violation("one", schema, {});
    expect(violation).toEqual(
      problem === undefined ? undefined : expect.stringMatching(/^The function's parameters .+\.$/),
    );
  });

  test("is checked again after it was valid", async () => {
    const schema = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
    for (const [args, violation] of [
      [{ day: "Monday" }, undefined],
      [{ day: 1 }, "The arguments are wrong: /day must be string"],
      [{}, "The arguments are wrong: arguments must have required property 'day'"],
      [[], "The arguments are wrong: arguments must be object"],
      [undefined, "The arguments are wrong: arguments must be object"],
    ])
      expect(await checker.violation("one", schema, args)).toBe(violation);
  });

  test("runs every pattern in linear time", async () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const violation = await checker.violation("one", schema, { a: `${"a".repeat(100_000)}!` });
    expect(violation).toBe('The arguments are wrong: /a must match pattern "^(a+)+$"');
  });
});

describe("arguments that take too long to check", () => {
  const UNIQUE = { properties: { list: { uniqueItems: true } } };
  const many = (length: number) => ({ list: Array.from({ length }, (_, at) => ({ at })) });

  test("are refused; the schema stays in use if they were large", async () => {
    expect(await checker.violation("two", UNIQUE, many(20_000))).toBe(`The arguments ${SLOW}.`);
    expect(await checker.problemOf("two", UNIQUE)).toBeUndefined();
    expect(await checker.violation("two", UNIQUE, many(3))).toBeUndefined();
  });

  test("disable a schema that is slow on small arguments", async () => {
    const { $defs } = exponential(30, "small") as { $defs: object };
    const schema = { $defs, properties: { a: { $ref: "#/$defs/d30" } } };
    expect(await checker.problemOf("three", schema)).toBeUndefined();
    expect(await checker.violation("three", schema, { a: {} })).toBe(`The arguments ${SLOW}.`);
    expect(await checker.problemOf("three", schema)).toBe(SLOW);
  });

  test("are refused when they are too long", async () => {
    expect(await checker.violation("four", {}, { a: "x".repeat(270_000) })).toContain("longer than");
  });
});

describe("many slow checks of one organization", () => {
  test("delay another organization by at most one deadline, and not at all afterwards", async () => {
    const own = threadChecker();
    const ended: string[] = [];
    const ask = (organization: string, schema: object) =>
      own.problemOf(organization, schema).then(() => void ended.push(organization));
    const slow = [1, 2, 3].map((mark) => ask("slow", exponential(30, `slow ${mark}`)));
    await ask("quick", { title: "first" });
    expect(ended).toEqual(["slow", "quick"]);
    await Promise.all(slow);
    const later = ask("slow", exponential(30, "later"));
    await ask("quick", { title: "second" });
    expect(ended.at(-1)).toBe("quick");
    await later;
    await own.close();
  });

  test("are refused when too many wait; other organizations are not affected", async () => {
    const own = threadChecker({ ownCharacters: 4_000 });
    const schemas = Array.from({ length: 20 }, (_, at) => ({ title: `${at}` }));
    const problems = await Promise.all([
      ...schemas.map((schema) => own.problemOf("many", schema)),
      own.problemOf("other", { title: "other" }),
    ]);
    const refused = problems.filter((problem) => problem?.startsWith("cannot be checked now"));
    expect(refused.length).toBeGreaterThan(10);
    expect(problems.at(-1)).toBeUndefined();
    expect(await own.problemOf("many", schemas.at(-1)!)).toBeUndefined();
    await own.close();
  });
});
