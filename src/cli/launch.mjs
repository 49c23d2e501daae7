// Builds what changed since the last build, then runs the named program: `node src/cli/launch.mjs main`.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
process.chdir(root);
const stamp = join("dist", ".built");
const sources = ["schema", "src", "rest-compat", "knexfile.ts", "tsconfig.json", "package-lock.json"];

const newest = (path) =>
  statSync(path).isDirectory()
    ? Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
    : statSync(path).mtimeMs;

/** Root's build can't be overwritten by others: tells them how to take it over. */
function refuseForeignBuild() {
  try {
    for (const path of ["dist", stamp].filter(existsSync)) accessSync(path, constants.W_OK);
  } catch {
    console.error(
      `The build in ${join(root, "dist")} belongs to another user, probably because Parley was started as root.\nTo make it yours, run:\n  sudo chown -R "$(id -un)" '${join(root, "dist")}'`,
    );
    process.exit(1);
  }
}

function build() {
  refuseForeignBuild();
  // Its words go to standard error: what a command prints may be read by a program. Types are checked by `npm run typecheck`.
  for (const command of [
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--noCheck"],
    ["src/explorer/build.mjs"],
    ["src/dashboard/build.mjs"],
    ["src/widget/build.mjs"],
  ]) {
    const { status } = spawnSync(process.execPath, command, { stdio: ["ignore", 2, 2] });
    if (status !== 0) process.exit(status ?? 1);
  }
  writeFileSync(stamp, "");
}

const [, , program, ...options] = process.argv;
const stale = !existsSync(stamp) || sources.some((path) => newest(path) > statSync(stamp).mtimeMs);
// Where the tools to build are not installed, what was built before is what runs.
if (stale && existsSync("node_modules/typescript")) {
  process.stderr.write("Building Parley (once after each change) …\n");
  build();
}
if (program) {
  process.argv = [process.argv[0], join(root, "dist", "src", `${program}.js`), ...options];
  createRequire(import.meta.url)(process.argv[1]);
}
