import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { start, type Running } from "../../processes";

/** Beside the other built programs of the benchmark, so that it is no dependency of the project. */
const FOLDER = "dist/bench/postgraphile";
/** The Node.js that PostGraphile 5 needs, as packages of the registry. */
const NODE = `node-${process.platform}-${process.arch}`;
const NODE_VERSION = "22.23.3";
const run = promisify(execFile);

/** Installs PostGraphile with its own Node.js, and starts it. */
export async function startPostGraphile(
  ready: RegExp,
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of ["package.json", "server.mjs"])
    cpSync(join("test/bench/peers/postgraphile", file), join(FOLDER, file));
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--prefer-offline"];
  await run("npm", ["install", ...options, `${NODE}@${NODE_VERSION}`], { cwd: FOLDER });
  return start(
    ["server.mjs"],
    ready,
    env,
    FOLDER,
    join(process.cwd(), FOLDER, "node_modules", NODE, "bin", "node"),
  );
}
