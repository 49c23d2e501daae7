// Bundles the analytics page into dist/public: node src/web/dashboard/build.mjs
import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public");
const outdir = join(publicDir, "analytics");
const pagesDir = join(publicDir, "pages");

await rm(outdir, { recursive: true, force: true });
await mkdir(pagesDir, { recursive: true });
await Promise.all([
  build({
    entryPoints: [join(here, "dashboard.tsx"), join(here, "dashboard.css")],
    outdir,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    // Licenses of bundled packages are written to a file beside each bundle.
    legalComments: "linked",
    tsconfig: join(here, "tsconfig.json"),
    logLevel: "warning",
  }),
  copyFile(join(here, "dashboard.html"), join(pagesDir, "analytics.html")),
]);
