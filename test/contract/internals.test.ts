import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const MAX_README_LINES = 20;

interface Internals {
  readonly what: string;
  /** The only folder that may contain it; its README gives the reason. */
  readonly folder: string;
  /** Matches its use; absent if no text shows it. */
  readonly pattern?: RegExp;
}

/** Code that reaches into internals of packages or of Node, or that schedules jobs beside graphile-worker. */
const INTERNALS: readonly Internals[] = [
  {
    what: "private tables of graphile-worker",
    folder: "src/platform/database/private-job-tables",
    pattern: /_private_/,
  },
  {
    what: "internals of Knex and pg",
    folder: "src/platform/database/knex-client",
    pattern:
      /knex\/lib\/|\bclient\.pool\b|\.acquireConnection\(|connection: \{ stream|\._(query|driver|types)\b/,
  },
  {
    what: "another pool than pg's",
    folder: "src/platform/jobs/job-pool",
    pattern: /extends (pg\.)?Pool\b/,
  },
  { what: "periodic tasks", folder: "src/platform/jobs/calendar", pattern: /parseCronItems/ },
  {
    what: "jobs that start at once",
    folder: "src/platform/jobs/immediate",
    pattern: /from begun_jobs where id/,
  },
  { what: "the dispatcher of deliveries", folder: "src/worker/dispatcher", pattern: /new Lanes\(/ },
  { what: "the sealer of the audit log", folder: "src/worker/audit-sealer", pattern: /class AuditSealer/ },
  {
    what: "native handles and the prototypes of Node",
    folder: "src/platform/reader/cut-off",
    pattern: /\._handle\b|getOwnPropertySymbols|process\.binding|from "node:v8"/,
  },
  { what: "prototypes set by hand", folder: "src/http/express-server", pattern: /setPrototypeOf/ },
  { what: "internals of parsers of forms", folder: "src/http/multipart", pattern: /busboy\/lib\/|\.pipe = / },
  {
    what: "the metadata of type-graphql",
    folder: "schema/core/inherited-rules",
    pattern: /getMetadataStorage|type-graphql\/(build|dist)/,
  },
  { what: "flags of Node", folder: "src/cli/node-flags" },
  { what: "V8's compiled code", folder: "src/cli/bundle", pattern: /cachedData/ },
  { what: "jest's runtime", folder: "test/support/jest-runtime" },
  { what: "the code of jobs", folder: "src/platform/jobs" },
];

/** Accesses to internals that occur nowhere. */
const NOWHERE: Readonly<Record<string, RegExp>> = {
  "parsers for all of pg": /setTypeParser/,
  "Node's loader": /Module\._|require\.cache|require\.extensions/,
  "internal modules of packages": /(from|require\()\s*"(?!\.)[^"]*\/(dist|build|internals?)\//,
  "other objects' prototypes": /^\s*[A-Z]\w+\.prototype\.\w+ = /m,
  "timers that start with an import": /^(const \w+ = )?(setInterval|setTimeout)\(/m,
};

/** Files of the server, without migrations, which are never edited. */
const files = ["src", "schema", "rest-compat"].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((name) => /\.(ts|mjs|cjs)$/.test(name) && !/\/(migrations|web)\//.test(name)),
);
const foldersWith = (pattern: RegExp) => [
  ...new Set(files.filter((file) => pattern.test(readFileSync(file, "utf8"))).map(dirname)),
];

describe.each(INTERNALS)("$what", ({ pattern, folder }) => {
  test(`has a README of at most ${MAX_README_LINES} lines`, () => {
    const lines = readFileSync(join(folder, "README.md"), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(MAX_README_LINES);
  });

  if (pattern) test("is in one folder only", () => expect(foldersWith(pattern)).toEqual([folder]));
});

test.each(Object.entries(NOWHERE))("%s: left alone", (_, pattern) => {
  expect(foldersWith(pattern)).toEqual([]);
});

test("a README justifies every flag that Node is started with", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const readme = readFileSync("src/cli/node-flags/README.md", "utf8");
  const flags = Object.values(scripts).flatMap(
    (script) => /\bnode((?: --\S+)*)/.exec(script)?.[1]?.split(" ") ?? [],
  );
  const named = flags.filter((flag) => flag.startsWith("--"));
  expect(named).not.toEqual([]);
  expect(named.filter((flag) => !readme.includes(flag))).toEqual([]);
});

test("one file of the tests names private tables of graphile-worker", () => {
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" }).map((name) => join("test", name));
  const sources = tests.filter((name) => name.endsWith(".ts") && name !== "test/contract/internals.test.ts");
  const naming = sources.filter((name) => readFileSync(name, "utf8").includes("_private_"));
  expect(naming).toEqual(["test/support/jobs.ts"]);
});
