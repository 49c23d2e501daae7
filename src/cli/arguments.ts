import { parseArgs, type ParseArgsConfig } from "node:util";

/**
 * Parses the arguments of a command. `--help` prints the usage and ends the process.
 * @throws Error with the usage, if an argument is unknown or malformed
 */
export function parseArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes("--help")) {
    console.log(`Usage: ${usage}`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const [reason] = (error as Error).message.split(". "); // Node adds advice that does not fit here
    throw new Error(`${reason!.replace(/\.$/, "")}.\nUsage: ${usage}`, { cause: error });
  }
}

/** A number with its noun, such as "1 file" or "2 files". @param nouns the plural, if it is not formed with -s */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : nouns}`;
