// Transpiles each changed TypeScript file without checking types. `isolatedModules` makes files independent, so a
// change costs one file instead of the whole program. Removes the output of deleted files, because the migrations are
// the files of their folder.
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
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
const settings = statSync("tsconfig.json").mtimeMs;

const targetOf = (source) =>
  join(options.outDir, relative(options.rootDir, resolve(source))).replace(/\.ts$/, ".js");
const targets = new Set(sources.map(targetOf));
const emitted = raw.include
  .map((folder) => join(options.outDir, folder))
  .filter(ts.sys.directoryExists)
  .flatMap((folder) => ts.sys.readDirectory(folder, [".js", ".json"]));
for (const target of emitted) if (!targets.has(target)) rmSync(target);

for (const source of sources) {
  if (source.endsWith(".d.ts")) continue;
  const target = targetOf(source);
  if (isFresh(target, source)) continue;
  mkdirSync(dirname(target), { recursive: true });
  if (source.endsWith(".json")) copyFileSync(source, target);
  else emit(source, target);
}

function isFresh(target, source) {
  const built = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return built > statSync(source).mtimeMs && built > settings;
}

function emit(source, target) {
  const text = ts.sys.readFile(source);
  const { outputText, diagnostics } = ts.transpileModule(text, {
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
  writeFileSync(target, outputText);
}
