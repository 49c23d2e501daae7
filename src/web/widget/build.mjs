// Bundles the widget into dist/public/widget, and fails where it has grown too large for other people's pages.
import { build } from "esbuild";
import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public/widget");
const assetsDir = join(publicDir, "assets");

/** Most that a visitor downloads, gzipped, in bytes: by the page's own loading, and once the frame opens. */
const MOST = { loader: 12_000, frame: 70_000 };

const shared = {
  bundle: true,
  minify: true,
  write: false,
  // Older than the explorer's: whatever browser a visitor comes with.
  target: ["es2020", "safari15"],
  // Licences of what is bundled are kept, in a file beside each.
  legalComments: "linked",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
};

const bundled = async (outdir, entryPoints, format) =>
  (await build({ ...shared, outdir, entryPoints, format })).outputFiles;

const gzipped = (files) => files.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);

function weigh(name, files, most) {
  const size = gzipped(files.filter(({ path }) => !path.endsWith(".LEGAL.txt")));
  if (size <= most) return;
  process.stderr.write(`The widget's ${name} is ${size} bytes gzipped, over its ${most}.\n`);
  process.exit(1);
}

/** At once or not at all: a server may be reading it. */
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
weigh("loader", loader, MOST.loader);
weigh(
  "frame",
  pages.filter(({ path }) => basename(path).startsWith("frame.")),
  MOST.frame,
);

await mkdir(assetsDir, { recursive: true });
for (const { path, contents } of [...loader, ...pages]) await put(path, (to) => writeFile(to, contents));
for (const [name, folder] of [
  ["frame.html", "pages"],
  ["voice.html", "pages"],
  ["demo.html", "demo"],
])
  await put(join(publicDir, name), (to) => copyFile(join(here, folder, name), to));
