import { quotedForShell } from "./quoted-for-shell";
import { DeniedError, ImportStoppedError, RefusedError } from "./import/http";

const WAIT_SECONDS = 600;

/** The value of an option, or else of a variable. An empty one counts as not given. */
export const givenBy = (option: string | undefined, variable: string): string | undefined =>
  option || process.env[variable] || undefined;

/** A command with the options that were given, without keys. */
export const commandWith = (
  words: readonly string[],
  options: Readonly<Record<string, string | undefined>>,
): string =>
  [
    ...words,
    ...Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name} ${name.endsWith("key") ? "KEY" : quotedForShell(value)}`],
    ),
  ].join(" ");

/**
 * An error that ends an export or an import, with the command that continues it.
 * @param kept what stays, such as "What was imported stays."; undefined if there is nothing yet
 */
export function withContinuation(error: unknown, kept: string | undefined, command: string): unknown {
  const isDenied = error instanceof DeniedError;
  const isAway =
    error instanceof ImportStoppedError || (error instanceof RefusedError && error.status >= 500);
  if (!isDenied && !isAway) return error;
  const begin = isDenied ? "Then run this command" : "To try again, run the same command";
  const next = isDenied ? "Then this command continues" : "To continue, run the same command again";
  const sentence = kept === undefined ? begin : `${kept} ${next}`;
  return new Error(`${(error as Error).message}\n\n${sentence}:\n  ${command}`, { cause: error });
}

/** The address of the server. @param option of the command, instead of which `text` can come from PARLEY_URL */
export const serverAddress = (option: string | undefined, text: string, usage: string): string =>
  addressOf(option ? "--url" : "PARLEY_URL", text, usage);

/** An address without a slash at its end. @param name the option or the variable that has it. @throws Error with the usage */
export function addressOf(name: string, text: string, usage: string): string {
  const given = (address: string) => `${name}${name.startsWith("--") ? " " : "="}${address}`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new Error(
      `${name} must be a URL that begins with http:// or https://; got "${text}".\nUsage: ${usage}`,
    );
  const { username, password } = new URL(text);
  // Node sends no request to such an address, and its error repeats the password.
  if (username !== "" || password !== "")
    throw new Error(`${name} must not contain a user name or a password.`);
  const [, address] = /^(.*)\/(?:rest(?:\/v1)?|graphql)\/*$/.exec(text) ?? [];
  if (address !== undefined)
    throw new Error(
      `${name} must be the address of the server, without /graphql or /rest: ${given(address)}\nUsage: ${usage}`,
    );
  const [path = ""] = text.split(/[?#]/, 1);
  if (path !== text) throw new Error(`${name} must not contain ? or #: ${given(path)}\nUsage: ${usage}`);
  return text.replace(/(?<!\/)\/+$/, "");
}

/** The longest wait for a service, in seconds. @throws Error with the usage */
export function waitOf(wait: string | undefined, usage: string, otherwise = WAIT_SECONDS): number {
  if (wait === undefined) return otherwise;
  if (!/^\d{1,6}$/.test(wait))
    throw new Error(`--wait must be a whole number of seconds; got "${wait}".\nUsage: ${usage}`);
  return Number(wait);
}
