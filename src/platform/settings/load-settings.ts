import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { readConfig, type Config } from "./config";
import { misspelledSettings } from "./misspelled";
import { thisUser } from "./this-user";
import { mistake } from "../mistake";

const FILE = ".env";
/** Of the empty settings, only this one leads to other data. */
const NO_DATABASE_URL = "DATABASE_URL is empty, which counts as not set: the embedded PostgreSQL is used.";

export interface LoadedSettings {
  readonly settings: Config;
  /** Names of the variables that were in the environment, where they take precedence over `.env`. */
  readonly environment: ReadonlySet<string>;
}

/**
 * Reads the settings from the environment and from `.env` in the working directory, and prints warnings about both.
 * @param needsKeys as in `readConfig`
 * @throws Error that lists every invalid setting, or says that this user cannot read `.env`
 */
export function loadSettings(needsKeys = true): LoadedSettings {
  const environment = new Set(Object.keys(process.env));
  const inFile = existsSync(FILE) ? loadFile() : [];
  for (const line of misspelledSettings(process.env, inFile)) console.error(`Warning: ${line}`);
  if (process.env.DATABASE_URL?.trim() === "") console.error(`Warning: ${NO_DATABASE_URL}`);
  return { settings: readConfig(process.env, needsKeys), environment };
}

/** @returns the names in the file */
function loadFile(): string[] {
  const { text, ignored } = withoutJunk(readable(FILE));
  for (const line of ignored)
    console.error(`Warning: line ${line} of ${resolve(FILE)} has no "=" and is ignored.`);
  const values = parseEnv(text);
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  return Object.keys(values);
}

/** @throws Error with the remedy, if this user cannot read the file */
function readable(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const path = resolve(file);
    const user = thisUser();
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    throw mistake(
      new Error(
        `${path} cannot be read by the user ${user}: it belongs to another user. To make it readable, run:\n  sudo chown ${user} '${path}'`,
        { cause: error },
      ),
    );
  }
}

/**
 * Blanks lines that set nothing: the parser would take such a line and the next one for one name. Lines within a
 * quoted value are part of it.
 * @returns the text and the numbers of the blanked lines
 */
export function withoutJunk(source: string): { readonly text: string; readonly ignored: readonly number[] } {
  const lines = source.replace(/^\uFEFF/, "").split("\n");
  const ignored: number[] = [];
  let quote: string | undefined;
  const kept = lines.map((line, at) => {
    if (quote !== undefined) {
      if (line.includes(quote)) quote = undefined;
      return line;
    }
    const [name, ...value] = line.split("=");
    if (name!.trim() === "" || name!.trimStart().startsWith("#")) return line;
    if (value.length > 0) {
      quote = openQuote(value.join("=").trimStart(), lines.slice(at + 1));
      return line;
    }
    ignored.push(at + 1);
    return "";
  });
  return { text: kept.join("\n"), ignored };
}

/** The quote of a value that ends on one of the following lines. */
function openQuote(value: string, following: readonly string[]): string | undefined {
  const quote = ["'", '"', "`"].find((one) => value.startsWith(one));
  const isOpen = quote !== undefined && !value.includes(quote, 1) && following.join().includes(quote);
  return isOpen ? quote : undefined;
}
