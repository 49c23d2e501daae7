import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { SETTINGS } from "../../src/platform/settings/config";
import { TRACING_SETTINGS } from "../../src/platform/settings/tracing-settings";
import { rows } from "../support/suite";
import { targets } from "../support/targets";

const ROOT = join(__dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name}`);
const all = filesIn("test");

/** The patterns of files that a script passes to jest. */
const patternsOf = (script: string) => scripts[script]!.split(" ").filter((word) => word.startsWith("test/"));
const filesOf = (script: string) =>
  all.filter((name) => patternsOf(script).some((pattern) => name.startsWith(pattern)));
const texts = new Map<string, string>();
for (const name of new Set([...filesOf("test:attack"), ...filesOf("test:faults")]))
  texts.set(name, readFileSync(join(ROOT, name), "utf8"));

const LIKE_OPENAI = "read as OpenAI's, whose models stand for all vendors in these rows";
const WITHOUT_VECTORS = "the rows run without pgvector; test/domain/embeddings.test.ts has its failures";
const OWN_TESTS = "what it ends or deletes is tried with rows of its age in test/domain";
const MORE_SECONDS = "a time that only grows; the rows hold the answer itself back";

/** Settings that no row of the two suites sets, with the reason. */
const WITHOUT_ROW: Readonly<Partial<Record<keyof typeof SETTINGS, string>>> = {
  ANTHROPIC_API_KEY: LIKE_OPENAI,
  ANTHROPIC_BASE_URL: LIKE_OPENAI,
  EMBEDDING_API_KEY: WITHOUT_VECTORS,
  EMBEDDING_BASE_URL: WITHOUT_VECTORS,
  EMBEDDING_MODEL: WITHOUT_VECTORS,
  EVENT_RETENTION_DAYS: OWN_TESTS,
  GROQ_API_KEY: LIKE_OPENAI,
  GROQ_BASE_URL: LIKE_OPENAI,
  IDLE_TIMEOUT_MINUTES: OWN_TESTS,
  LOG_RETENTION_DAYS: OWN_TESTS,
  MODEL_TIMEOUT_SECONDS: MORE_SECONDS,
  ...Object.fromEntries(
    Object.keys(TRACING_SETTINGS).map((name) => [
      name,
      "test/domain/traces.test.ts has a collector, also one that is away",
    ]),
  ),
  QUOTA_VERSIONS: OWN_TESTS,
  RECORDING_RETENTION_DAYS: OWN_TESTS,
  RETENTION_NOTICE_DAYS: OWN_TESTS,
  S3_REGION: "part of a signature that test/domain/s3-storage.test.ts checks",
  TELEPHONY_PROVIDER: "a segment of paths; test/rest/sms.test.ts has another one",
};

describe("test:attack, test:browser and test:faults", () => {
  test.each(["test:attack", "test:browser", "test:faults"])(
    "%s runs long, and every path in it matches files",
    (script) => {
      expect(scripts[script]).toContain("TEST_LENGTH=long");
      expect(patternsOf(script)).not.toEqual([]);
      for (const pattern of patternsOf(script))
        expect([pattern, all.filter((name) => name.startsWith(pattern)).length]).not.toEqual([pattern, 0]);
    },
  );

  test("cover every REST route and every GraphQL operation", () => {
    const named = (api: string) => targets.filter((target) => target.api === api).map(({ name }) => name);
    expect(named("REST")).toEqual(routes.map(({ id }) => id));
    expect(named("GraphQL").sort()).toEqual(Object.keys(AUTHORIZATION).sort());
    for (const folder of ["attack", "faults"])
      expect(existsSync(join(ROOT, `test/${folder}/every-operation.test.ts`))).toBe(true);
  });

  test("cover every setting, except those with a stated reason", () => {
    const without = Object.keys(SETTINGS).filter(
      (name) => ![...texts.values()].some((text) => new RegExp(`\\b${name}\\b`).test(text)),
    );
    expect(without.sort()).toEqual(Object.keys(WITHOUT_ROW).sort());
  });
});

describe("a sample of rows", () => {
  test("has the requested size, is spread evenly, and reports its share", () => {
    const { title, rows: taken } = rows([..."abcdefghij"], 5);
    const isLong = process.env.TEST_LENGTH === "long";
    expect(taken.join("")).toBe(isLong ? "abcdefghij" : "acegi");
    expect(title).toBe(isLong ? "10 of 10" : "5 of 10");
  });

  test("contains all rows if there are fewer", () => {
    expect(rows([1, 2], 5)).toEqual({ title: "2 of 2", rows: [1, 2] });
  });
});
