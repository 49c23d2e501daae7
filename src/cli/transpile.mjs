// Transpiles the TypeScript files that changed, without checking types. `isolatedModules` makes files independent, so a
// change costs one file instead of the whole program. Removes the output of deleted files, because the migrations are
// the files of their folder.
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import ts from "typescript";

const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
const { options, raw } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
const sources = [
  ...ts.sys.readDirectory(process.cwd(), [".ts"], raw.exclude, raw.include),
  ...ts.sys.readDirectory(
    "src",
    [".json"],
    raw.exclude.map((path) => path.replace("src/", "")),
  ),
];
const settings = Math.max(
  ...["tsconfig.json", "src/cli/transpile.mjs"].map((path) => statSync(path).mtimeMs),
);

const targetOf = (source) =>
  join(options.outDir, relative(options.rootDir, resolve(source))).replace(/\.ts$/, ".js");
const targets = new Set(sources.map(targetOf));
const emitted = raw.include
  .map((folder) => join(options.outDir, folder))
  .filter(ts.sys.directoryExists)
  .flatMap((folder) => ts.sys.readDirectory(folder, [".js", ".json"]));
for (const target of emitted) if (!targets.has(target)) rmSync(target);

function isFresh(source) {
  const built = statSync(targetOf(source), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return built > statSync(source).mtimeMs && built > settings;
}

const stale = sources.filter((source) => !source.endsWith(".d.ts") && !isFresh(source));
for (const source of stale) mkdirSync(dirname(targetOf(source)), { recursive: true });

const programs = stale.filter((source) => source.endsWith(".ts"));
/** type-graphql reads the types of decorated members, which only TypeScript writes: 30 times the time of esbuild. */
const isDecorated = (source) => /^\s*@[A-Z]/m.test(readFileSync(source, "utf8"));
const decorated = programs.filter(isDecorated);
const plain = programs.filter((source) => !decorated.includes(source));
const emission = build({
  entryPoints: plain,
  outdir: options.outDir,
  outbase: options.rootDir,
  format: "cjs",
  platform: "node",
  target: "es2022",
  tsconfig: "tsconfig.json",
  logLevel: "error",
});
for (const source of stale.filter((it) => it.endsWith(".json"))) copyFileSync(source, targetOf(source));
for (const source of decorated) emit(source);
await emission.catch(() => process.exit(1)); // esbuild has printed the errors

function emit(source) {
  const { outputText, diagnostics } = ts.transpileModule(readFileSync(source, "utf8"), {
    compilerOptions: options,
    fileName: source,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) {
    console.error(
      ts.formatDiagnostics(diagnostics, {
        ...ts.sys,
        getCanonicalFileName: basename,
        getNewLine: () => "\n",
      }),
    );
    process.exit(1);
  }
  writeFileSync(targetOf(source), outputText);
}
