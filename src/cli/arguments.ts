import { parseArgs, type ParseArgsConfig } from "node:util";

/**
 * Parses the arguments of a command. `--help` never gets here: help.cjs answers it.
 * @throws Error with the usage, if an argument is unknown or malformed
 */
export function parseArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const all: T = { ...config, args: withDashes(process.argv.slice(2), config) };
  try {
    return parseArgs(all);
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.\s/); // Node adds advice that does not fit here
    const text = reason!.replace(/\.$/, "").replace(/is ambiguous$/, "missing");
    throw new Error(`${text}.\nUsage: ${usage}`, { cause: error });
  }
}

/** Arguments in which a value such as -1 belongs to the option before it. No command has options with one dash. */
const withDashes = (args: readonly string[], { options = {} }: ParseArgsConfig): string[] =>
  args.reduce<string[]>((all, argument) => {
    const before = all.at(-1) ?? "";
    const isValue = /^-[^-]/.test(argument) && options[before.replace(/^--/, "")]?.type === "string";
    return isValue ? [...all.slice(0, -1), `${before}=${argument}`] : [...all, argument];
  }, []);
