import { parseArgs, type ParseArgsConfig } from "node:util";

/**
 * Parses the arguments of a command. `--help` never gets here: help.cjs answers it.
 * @throws Error with the usage, if an argument is unknown or malformed
 */
export function parseArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [reason] = (error as Error).message.split(". "); // Node adds advice that does not fit here
    throw new Error(`${reason!.replace(/\.$/, "")}.\nUsage: ${usage}`, { cause: error });
  }
}
