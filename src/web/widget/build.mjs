// Bundles the widget into dist/public/widget. Fails if a bundle exceeds its size limit.
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { outputsOf, publish, publishFile } from "../publish.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public/widget");
const assetsDir = join(publicDir, "assets");

/**
 * Size limits of the downloads, in bytes after gzip: the loader on the page, and the frame. With the responses of the
 * service, both together are at most 70 kB after Brotli, which saves another tenth.
 */
const MAX_BYTES = { loader: 12_000, frame: 58_000 };

const shared = {
  bundle: true,
  minify: true,
  write: false,
  // Older browsers than for the explorer, because visitors' browsers vary.
  target: ["es2020", "safari15"],
  // License texts of bundled packages go to a file beside each bundle.
  legalComments: "linked",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
};

const bundled = async (outdir, entryPoints, format) =>
  outputsOf(await build({ ...shared, outdir, entryPoints, format }), outdir);

/** Stops the build if the download of some files exceeds its limit. */
function checkSize(name, files, maxBytes) {
  const size = files.reduce((sum, content) => sum + gzipSync(content).length, 0);
  if (size <= maxBytes) return;
  process.stderr.write(`The widget's ${name} has ${size} bytes after gzip; the limit is ${maxBytes}.\n`);
  process.exit(1);
}

const loader = await bundled(publicDir, { "companion-widget": join(here, "loader/loader.ts") }, "iife");
const assets = await bundled(
  assetsDir,
  {
    frame: join(here, "pages/frame.tsx"),
    voice: join(here, "pages/voice-page.tsx"),
    demo: join(here, "demo/demo.ts"),
  },
  "esm",
);
checkSize("loader", [loader["companion-widget.js"]], MAX_BYTES.loader);
checkSize("frame", [assets["frame.js"], assets["frame.css"]], MAX_BYTES.frame);

const pages = {};
for (const [name, folder] of [
  ["frame.html", "pages"],
  ["voice.html", "pages"],
  ["demo.html", "demo"],
])
  pages[join(publicDir, name)] = await readFile(join(here, folder, name), "utf8");
// Visitors of web pages download these files, so the smallest size is worth a second of the build.
await publish({ folder: assetsDir, address: "assets", assets, pages, isBest: true });
for (const [name, content] of Object.entries(loader)) await publishFile(join(publicDir, name), content, true);
