import {
  CHANNELS,
  isFields,
  nameOfFunction,
  Secret,
  sentValue,
  serversOf,
  textOf,
  withServers,
  type Fields,
} from "./kinds";
import type { LocalRecord } from "./folder";
import type { Path } from "./yaml-file";

/**
 * The fields of an assistant's file, with the stored secret of each function whose variable is not set.
 * @param before those of the server; undefined for an assistant that it does not have
 * @param problems gets a line for each function without any secret
 */
export function withStoredSecrets(
  local: LocalRecord,
  fields: Fields,
  before: Fields | undefined,
  problems: string[],
): Fields {
  const none = before
    ? "the server has no secret for it yet"
    : `the server has no assistant with the key "${local.key}" yet`;
  const channels = CHANNELS.flatMap((channel) => {
    const after = fields[channel];
    if (!isFields(after) || !Array.isArray(after.functions)) return [];
    const stored = ((before?.[channel] as Fields | undefined)?.functions ?? []) as readonly Fields[];
    const functions = after.functions.map((item: Fields, index) =>
      withStoredSecret(
        item,
        [...stored.slice(index), ...stored.slice(0, index)],
        (path, sentence, reason = none) => {
          problems.push(
            local.file.problemAt([channel, "functions", index, ...path], `${sentence}: ${reason}.`),
          );
        },
      ),
    );
    return [[channel, { ...after, functions }] as const];
  });
  return { ...fields, ...Object.fromEntries(channels) };
}

/** @param stored the one at the same place first, because names need not be unique */
function withStoredSecret(
  item: Fields,
  stored: readonly Fields[],
  refuse: (path: Path, sentence: string, reason?: string) => void,
): Fields {
  const name = nameOfFunction(item);
  const known = stored.filter((one) => nameOfFunction(one) === name).flatMap(storedSecrets);
  return withServers(item, ({ path, fields, url, secret }) => {
    const own = fields[secret];
    if (!(own instanceof Secret) || own.value !== undefined) return fields;
    const match = known.find(({ origin }) => origin === originOf(fields[url]));
    if (match) return { ...fields, [secret]: match.secret };
    refuse(
      [...path, secret],
      `The function "${name}" needs the environment variable ${own.variable}, which is not set`,
      known.length > 0 ? "the stored secret is for another address" : undefined,
    );
    return fields;
  });
}

const storedSecrets = (item: Fields) =>
  serversOf(item).flatMap(({ fields, url, secret }) => {
    const value = fields[secret];
    return value instanceof Secret ? [{ origin: originOf(fields[url]), secret: value }] : [];
  });

function originOf(url: unknown): string | undefined {
  const address = textOf(sentValue(url));
  return typeof address === "string" && URL.canParse(address) ? new URL(address).origin : undefined;
}
