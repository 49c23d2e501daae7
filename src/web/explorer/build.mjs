// Bundles the browser pages into dist/public. Run before anything is compiled: node src/web/explorer/build.mjs
import { build, stop } from "esbuild";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputsOf, publish, publishFile } from "../publish.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public");
const resolve = createRequire(import.meta.url).resolve;

const explorerDir = join(publicDir, "explorer");
const docsDir = join(publicDir, "docs");
const pagesDir = join(publicDir, "pages");

const shared = {
  bundle: true,
  minify: true,
  write: false,
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

/** Replaces GraphiQL's tabs with those of tab-list.tsx. */
const ownTabs = {
  name: "own-tabs",
  setup(plugins) {
    plugins.onLoad({ filter: /@graphiql[\\/]react[\\/]dist[\\/]components[\\/]tabs[\\/]index\.js$/ }, () => ({
      contents: `export { Tab, Tabs } from "./tab-list";`,
      resolveDir: here,
    }));
  },
};

/** Replaces a text in a file of a package. */
const corrected = (name, filter, wrong, right) => ({
  name,
  setup(plugins) {
    plugins.onLoad({ filter }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace(wrong, right);
      if (contents === text) throw new Error(`${path} has changed: is ${name} in build.mjs still needed?`);
      return { contents };
    });
  },
});

/** Names an entry of GraphiQL's history by its visible text: a name that differs cannot be spoken. */
const namedHistory = corrected(
  "named-history",
  /@graphiql[\\/]plugin-history[\\/]dist[\\/]components\.js$/,
  ', "aria-label": "Set active"',
  "",
);

/** Names a tab by the first operation of its document, whichever was run last. */
const lastingTitles = corrected(
  "lasting-titles",
  /@graphiql[\\/]react[\\/]dist[\\/]utility[\\/]tabs\.js$/,
  "title: newTab.operationName || (newTab.query ? fuzzyExtractOperationName(newTab.query) : void 0) ||",
  "title: (newTab.query ? fuzzyExtractOperationName(newTab.query) : void 0) || newTab.operationName ||",
);

const bundled = async (outdir, options) => outputsOf(await build({ ...shared, outdir, ...options }), outdir);

const explorer = () =>
  Promise.all([
    bundled(explorerDir, {
      entryPoints: [join(here, "explorer.tsx")],
      format: "esm",
      splitting: true,
      chunkNames: "chunk-[hash]",
      plugins: [styleOnce, ownTabs, namedHistory, lastingTitles],
    }),
    bundled(explorerDir, {
      entryPoints: {
        "editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
        "json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
        "graphql.worker": "monaco-graphql/esm/graphql.worker.js",
      },
      format: "iife",
    }),
  ]);

const docs = () =>
  Promise.all([
    bundled(docsDir, { entryPoints: [join(here, "docs/docs.ts"), join(here, "docs/docs.css")] }),
    ...["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"].map(async (name) => ({
      [name]: await readFile(resolve(`swagger-ui-dist/${name}`)),
    })),
  ]);

/** @param assets the assets in parts */
async function publishPage(name, source, folder, address, assets) {
  const pages = { [join(pagesDir, name)]: await readFile(join(here, source), "utf8") };
  await publish({ folder, address, assets: Object.assign({}, ...assets), pages });
}

const [explorerAssets, docsAssets] = await Promise.all([explorer(), docs()]);
await stop(); // its memory would be in use beside that of the compression
await Promise.all([
  publishPage("explorer.html", "explorer.html", explorerDir, "/assets/explorer", explorerAssets),
  publishPage("docs.html", "docs/docs.html", docsDir, "/assets/docs", docsAssets),
  publishFile(join(publicDir, "favicon.svg"), await readFile(join(here, "favicon.svg"))),
]);
