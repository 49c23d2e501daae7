import { parseArgs, type ParseArgsConfig } from "node:util";
import { EFFECTS } from "./effects";

/**
 * Parses the arguments of a command. `--help` prints the usage and the effect, and ends the process.
 * @throws Error with the usage, if an argument is unknown or malformed
 */
export function parseArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes("--help")) {
    const effect = EFFECTS[process.argv[1] ?? ""];
    console.log(`Usage: ${usage}${effect === undefined ? "" : `\n\n${effect}`}`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const [reason] = (error as Error).message.split(". "); // Node adds advice that does not fit here
    throw new Error(`${reason!.replace(/\.$/, "")}.\nUsage: ${usage}`, { cause: error });
  }
}
