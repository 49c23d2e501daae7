// Bundles a program of a project for a runtime without Node.js, in one file or, for a browser, with parts that load later.
// Prints the bytes after gzip that load at first: node bundle.mjs browser|worker ENTRY FOLDER
import { build } from "esbuild";
import { gzipSync } from "node:zlib";

const [, , runtime, entry, outdir] = process.argv;
const options = {
  browser: { format: "esm", splitting: true, platform: "browser" },
  worker: { format: "iife", globalName: "program", platform: "neutral", mainFields: ["module", "main"] },
};
const { metafile, outputFiles } = await build({
  ...options[runtime],
  entryPoints: [entry],
  outdir,
  bundle: true,
  minify: true,
  metafile: true,
  write: false,
  absWorkingDir: outdir,
  logLevel: "error",
});
const contents = new Map(outputFiles.map(({ path, contents }) => [path.split("/").at(-1), contents]));
const first = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint)[0];
const atFirst = (name) => [
  name,
  ...metafile.outputs[name].imports
    .filter(({ kind }) => kind === "import-statement")
    .flatMap(({ path }) => atFirst(path)),
];
const bytes = [...new Set(atFirst(first))].map((name) =>
  gzipSync(contents.get(name.split("/").at(-1)), { level: 9 }),
);
const files = Object.fromEntries(
  [...contents].map(([name, content]) => [name, Buffer.from(content).toString()]),
);
console.log(JSON.stringify({ first, size: bytes.reduce((sum, { length }) => sum + length, 0), files }));
