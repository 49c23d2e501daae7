import { databaseProblem } from "../platform/database/connections/database-problem";
import { withSources } from "../platform/source-of";
import type { Config } from "../platform/settings/config";
import { exitCodeOf } from "../platform/mistake";
import { loadSettings } from "../platform/settings/load-settings";

/**
 * Runs a command for operators, with the settings of this installation. Prints errors to standard error and sets the exit
 * code.
 * @param needsKeys as in `readConfig`
 */
export function operator(work: (config: Config) => Promise<void>, needsKeys = true): void {
  run(work, needsKeys).catch((thrown: unknown) => {
    const error = databaseProblem(thrown) ?? (thrown as Error);
    console.error(process.env.LOG_LEVEL === "debug" ? withSources(error.stack!) : error.message);
    process.exitCode = exitCodeOf(thrown);
  });
}

async function run(work: (config: Config) => Promise<void>, needsKeys: boolean): Promise<void> {
  await work(loadSettings(needsKeys).settings);
}
