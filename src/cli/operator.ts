import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../platform/settings/config";
import { loadSettings } from "../platform/settings/load-settings";

/**
 * Runs a command for operators, with the settings of this installation. Prints errors to standard error and sets exit
 * code 1.
 */
export function operator(work: (config: Config) => Promise<void>): void {
  run(work).catch((error: unknown) => {
    console.error(process.env.LOG_LEVEL === "debug" ? (error as Error).stack : (error as Error).message);
    process.exitCode = 1;
  });
}

async function run(work: (config: Config) => Promise<void>): Promise<void> {
  await work(loadSettings().settings);
}

/** The version of this program. */
export function ownVersion(): string {
  const root = [join(__dirname, "../.."), join(__dirname, "../../..")].find((folder) =>
    existsSync(join(folder, "package.json")),
  );
  return (JSON.parse(readFileSync(join(root!, "package.json"), "utf8")) as { version: string }).version;
}
