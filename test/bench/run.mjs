// Runs the benchmark, or the part of it that is named (`npm run bench -- calls`): its TypeScript is bundled into dist/bench first. `npm run bench` builds the service before.
import { spawnSync } from "node:child_process";
import { build } from "esbuild";

await build({
  entryPoints: ["main", "baseline", "load"].map((name) => `test/bench/${name}.ts`),
  outdir: "dist/bench",
  bundle: true,
  packages: "external",
  platform: "node",
  target: "node20",
  logLevel: "warning",
});
process.exit(
  spawnSync(process.execPath, ["dist/bench/main.js", ...process.argv.slice(2)], { stdio: "inherit" })
    .status ?? 1,
);
