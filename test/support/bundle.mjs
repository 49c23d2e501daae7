import { spawnSync } from "node:child_process";
import { build } from "esbuild";

/** Bundles programs of a test folder into dist/, runs `main` with this process's options and exits with its code. */
export async function bundleAndRun(folder, programs) {
  await build({
    entryPoints: programs.map((name) => `test/${folder}/${name}.ts`),
    outdir: `dist/${folder}`,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  const options = [`dist/${folder}/main.js`, ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, options, { stdio: "inherit" }).status ?? 1);
}
