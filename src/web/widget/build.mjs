// Bundles the widget into dist/public/widget. Fails if a bundle exceeds its size limit.
import { build } from "esbuild";
import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public/widget");
const assetsDir = join(publicDir, "assets");

/** Size limits of the downloads, in bytes after gzip: the loader on the page, and the frame once it is opened. */
const MAX_BYTES = { loader: 12_000, frame: 70_000 };

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
  (await build({ ...shared, outdir, entryPoints, format })).outputFiles;

const gzipped = (files) => files.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);

function checkSize(name, files, maxBytes) {
  const size = gzipped(files.filter(({ path }) => !path.endsWith(".LEGAL.txt")));
  if (size <= maxBytes) return;
  process.stderr.write(`The widget's ${name} has ${size} bytes after gzip; the limit is ${maxBytes}.\n`);
  process.exit(1);
}

/** Replaces a file atomically, because a server may be reading it. */
async function put(path, write) {
  const unfinished = `${path}.${process.pid}`;
  await write(unfinished);
  await rename(unfinished, path);
}

const loader = await bundled(publicDir, { "companion-widget": join(here, "loader/loader.ts") }, "iife");
const pages = await bundled(
  assetsDir,
  {
    frame: join(here, "pages/frame.tsx"),
    voice: join(here, "pages/voice-page.tsx"),
    demo: join(here, "demo/demo.ts"),
  },
  "esm",
);
checkSize("loader", loader, MAX_BYTES.loader);
checkSize(
  "frame",
  pages.filter(({ path }) => basename(path).startsWith("frame.")),
  MAX_BYTES.frame,
);

await mkdir(assetsDir, { recursive: true });
for (const { path, contents } of [...loader, ...pages]) await put(path, (to) => writeFile(to, contents));
for (const [name, folder] of [
  ["frame.html", "pages"],
  ["voice.html", "pages"],
  ["demo.html", "demo"],
])
  await put(join(publicDir, name), (to) => copyFile(join(here, folder, name), to));
