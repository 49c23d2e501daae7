import { nearest } from "../nearest";
import { SETTINGS } from "./config";

/** Shorter names of the environment resemble settings by chance: HOME resembles HOST. */
const MIN_LENGTH = 7;
/** Suffixes that distinguish names on purpose, such as OPENAI_API_KEY_2. */
const NUMBERED = /\d$/;

/** One line for each variable of the environment whose name is probably a misspelled setting. */
export function misspelledSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(SETTINGS);
  return Object.keys(env).flatMap((name) => {
    if (name in SETTINGS || name.length < MIN_LENGTH || NUMBERED.test(name)) return [];
    const meant = nearest(name, known);
    return meant === undefined || env[meant] !== undefined
      ? []
      : [`${name} is not a setting and has no effect. Did you mean ${meant}?`];
  });
}
