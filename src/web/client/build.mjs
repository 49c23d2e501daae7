// Builds the client that the package exports, into dist/client: `npm pack` runs it. ES modules with their types, in which
// the packages that the client is made of are bundled. Fails if the client exceeds its size limit.
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import "./generate.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const outdir = join(root, "dist/client");
const types = join(outdir, "types");

/** In bytes after gzip: without the parts that load later, for subscriptions and documents without text. */
const MAX_BYTES = 8_000;

const shared = {
  entryPoints: { index: join(here, "index.ts") },
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  mainFields: ["module", "main"],
  external: ["graphql-ws"],
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
};

rmSync(outdir, { recursive: true, force: true });
await build(shared);
// The package is one of CommonJS.
writeFileSync(join(outdir, "package.json"), '{ "type": "module" }\n');
writeFileSync(join(outdir, "index.d.ts"), 'export * from "./types/client/index.js";\n');

const { outputFiles } = await build({ ...shared, minify: true, write: false });
const size = outputFiles
  .filter(({ path }) => /(index|chunk-\w+)\.js$/.test(path))
  .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
if (size > MAX_BYTES) throw new Error(`The client has ${size} bytes after gzip; the limit is ${MAX_BYTES}.`);

const tsc = join(root, "node_modules/typescript/bin/tsc");
const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", types];
execFileSync(process.execPath, [tsc, "-p", here, ...options], { stdio: "inherit" });
cpSync(join(here, "generated"), join(types, "client/generated"), { recursive: true });
for (const name of ["openapi-fetch", "openapi-typescript-helpers"])
  cpSync(join(root, `node_modules/${name}/dist/index.d.mts`), join(types, `client/${name}.d.ts`));

/** TypeScript asks for file names in modules, and the types of bundled packages are beside the client's. */
const withFileNames = (text) =>
  text
    .replaceAll(/(?<=from )["'](openapi-[\w-]+)["']/g, '"./$1.js"')
    .replaceAll(/(?<=from )"(\.[^"]*?)(\.js)?"/g, '"$1.js"');
for (const name of readdirSync(types, { recursive: true, encoding: "utf8" }).filter((it) =>
  it.endsWith(".d.ts"),
)) {
  const path = join(types, name);
  writeFileSync(path, withFileNames(readFileSync(path, "utf8")));
}
