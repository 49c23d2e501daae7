import { resolve } from "node:path";
import { prefixOf } from "../../platform/providers/model-access";
import { thisUser } from "../../platform/settings/this-user";
import { isWritable } from "./env-file";
import type { Target } from "./target";

/** A change of the settings that makes a target answer. */
export interface EnvChange {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
  /** False if the environment contains other values, which would take precedence over the file. */
  readonly isStored: boolean;
  /** What the operator must know or do afterwards. */
  readonly advice: string;
}

const FALLBACK = ["MODEL_NAME", "MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_PROVIDER"];
const KEY = "THE-KEY-THAT-YOU-GAVE";

/**
 * The change of `.env`, or the lines to change in the server's environment.
 * @param environment names of the variables that were not set by `.env`
 * @throws Error if this user cannot write the file
 */
export function envChange(target: Target, environment: ReadonlySet<string>, file: string): EnvChange {
  const values = valuesOf(target);
  const unset = FALLBACK.filter((name) => values[name] === undefined);
  const path = resolve(file);
  const lines = [
    ...Object.entries(values).map(([name, value]) => `  ${name}=${/KEY$/.test(name) ? KEY : value}`),
    ...unset.filter((name) => process.env[name]?.trim()).map((name) => `  ${name} (remove it)`),
  ].join("\n");
  const others = [
    ...Object.entries(values).flatMap(([name, value]) => (process.env[name] === value ? [] : [name])),
    ...unset.filter((name) => process.env[name]?.trim()),
  ].filter((name) => environment.has(name));
  const change = { file: path, values, unset };
  if (others.length > 0) return { ...change, isStored: false, advice: inEnvironment(others, lines) };
  if (Object.keys(values).every((name) => environment.has(name)))
    return { ...change, isStored: false, advice: "The environment has these settings already." };
  if (!isWritable(path))
    throw new Error(
      `${path} cannot be written by the user ${thisUser()}. The model was not tested and nothing was stored.\n${elsewhere(lines)}\nOr run the command as a user who may write there.`,
    );
  return {
    ...change,
    isStored: true,
    advice: `Stored in ${file}, for all organizations. Restart the server to use it: press Ctrl+C there and run npm start, or run sudo systemctl restart parley if systemd starts it.`,
  };
}

const elsewhere = (lines: string): string =>
  `Set these lines where the server gets its environment, such as /etc/parley.env, and restart it:\n${lines}`;

const inEnvironment = (others: readonly string[], lines: string): string =>
  `NOT stored in .env: ${others.join(", ")} in the environment would take precedence.\n${elsewhere(lines)}`;

function valuesOf({ provider, baseUrl, apiKey, name }: Target): Record<string, string> {
  return provider === undefined
    ? { MODEL_NAME: name, MODEL_BASE_URL: baseUrl!, ...(apiKey !== undefined && { MODEL_API_KEY: apiKey }) }
    : { [`${prefixOf(provider)}_API_KEY`]: apiKey!, MODEL_NAME: name, MODEL_PROVIDER: provider };
}
