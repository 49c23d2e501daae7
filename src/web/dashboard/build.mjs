// Bundles the analytics page into dist/public: node src/web/dashboard/build.mjs
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputsOf, publish } from "../publish.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const publicDir = join(here, "../../../dist/public");
const outdir = join(publicDir, "analytics");

const built = await build({
  entryPoints: [join(here, "dashboard.tsx"), join(here, "dashboard.css")],
  outdir,
  write: false,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  // Licenses of bundled packages are written to a file beside each bundle.
  legalComments: "linked",
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
});
await publish({
  folder: outdir,
  address: "/assets/analytics",
  assets: outputsOf(built, outdir),
  pages: {
    [join(publicDir, "pages/analytics.html")]: await readFile(join(here, "dashboard.html"), "utf8"),
  },
});
