// Bundles the browser pages into dist/public. Run before anything is compiled: node src/web/explorer/build.mjs
import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public");
const resolve = createRequire(import.meta.url).resolve;

const explorerDir = join(publicDir, "explorer");
const docsDir = join(publicDir, "docs");
const pagesDir = join(publicDir, "pages");

const shared = {
  bundle: true,
  minify: true,
  target: "es2022",
  // Licenses of bundled packages are written to a file beside each bundle.
  legalComments: "linked",
  define: { "process.env.NODE_ENV": '"production"' },
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
};

/** Drops the styles of Monaco's modules: graphiql/style.css already contains them. */
const styleOnce = {
  name: "style-once",
  setup(plugins) {
    plugins.onLoad({ filter: /[\\/]monaco-editor[\\/].*\.css$/ }, () => ({ contents: "", loader: "css" }));
  },
};

const bundles = () => [
  build({
    ...shared,
    entryPoints: [join(here, "explorer.tsx")],
    outdir: explorerDir,
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    plugins: [styleOnce],
  }),
  build({
    ...shared,
    entryPoints: {
      "editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
      "json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
      "graphql.worker": "monaco-graphql/esm/graphql.worker.js",
    },
    outdir: explorerDir,
    format: "iife",
  }),
  build({
    ...shared,
    entryPoints: [join(here, "docs/docs.ts"), join(here, "docs/docs.css")],
    outdir: docsDir,
  }),
];

const copies = () => [
  copyFile(join(here, "explorer.html"), join(pagesDir, "explorer.html")),
  copyFile(join(here, "docs/docs.html"), join(pagesDir, "docs.html")),
  copyFile(join(here, "favicon.svg"), join(explorerDir, "favicon.svg")),
  ...["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"].map((name) =>
    copyFile(resolve(`swagger-ui-dist/${name}`), join(docsDir, name)),
  ),
];

for (const folder of [explorerDir, docsDir]) await rm(folder, { recursive: true, force: true });
for (const folder of [explorerDir, docsDir, pagesDir]) await mkdir(folder, { recursive: true });
await Promise.all([...bundles(), ...copies()]);
