import { nearest } from "../nearest";
import { SETTINGS } from "./config";

/** Shorter names of the environment resemble settings by chance: HOME resembles HOST. */
const MIN_LENGTH = 7;
/** Suffixes that distinguish names on purpose, such as OPENAI_API_KEY_2. */
const NUMBERED = /\d$/;

/** Names in `.env` that Node, its libraries and the system read, and keys and addresses of providers. */
const OF_OTHERS =
  /^(NODE_|npm_|PG|AWS_|LC_|SSL_CERT_|UV_|OLLAMA_|OTEL_)|_PROXY$|_(API_KEY|BASE_URL)$|^(LANG|LANGUAGE|TZ|PATH|HOME|TMPDIR|DEBUG|NO_COLOR|FORCE_COLOR)$/i;

/**
 * One line for each variable of the environment whose name is probably a misspelled setting, and for each other name in
 * `.env` that nothing reads.
 * @param inFile names in `.env`
 */
export function misspelledSettings(
  env: Readonly<Record<string, string | undefined>>,
  inFile: readonly string[] = [],
): string[] {
  const misspelled = probablyMisspelled(env);
  const unknown = inFile.filter(
    (name) =>
      !(name in SETTINGS) && !OF_OTHERS.test(name) && !misspelled.some((line) => line.startsWith(`${name} `)),
  );
  return [...misspelled, ...unknown.map(withoutEffect)];
}

function withoutEffect(name: string): string {
  const meant = nearest(name, Object.keys(SETTINGS));
  const question = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `${name} in .env is not a setting and has no effect.${question}`;
}

function probablyMisspelled(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(SETTINGS);
  return Object.keys(env).flatMap((name) => {
    if (name in SETTINGS || name.length < MIN_LENGTH || NUMBERED.test(name)) return [];
    const meant = nearest(name, known);
    return meant === undefined || env[meant] !== undefined
      ? []
      : [`${name} is not a setting and has no effect. Did you mean ${meant}?`];
  });
}
