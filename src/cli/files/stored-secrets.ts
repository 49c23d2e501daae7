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
    const named = after.functions as readonly Fields[];
    const functions = named.map((item, index) =>
      withStoredSecret(
        item,
        { stored: [...stored.slice(index), ...stored.slice(0, index)], named },
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

/** The functions of a channel. */
interface Functions {
  /** Those of the server, the one at the same place first, because names need not be unique. */
  readonly stored: readonly Fields[];
  /** Those of the file. */
  readonly named: readonly Fields[];
}

function withStoredSecret(
  item: Fields,
  { stored, named }: Functions,
  refuse: (path: Path, sentence: string, reason?: string) => void,
): Fields {
  const name = nameOfFunction(item);
  const known = stored.filter((one) => nameOfFunction(one) === name).flatMap(storedSecrets);
  const isAlone = [stored, named].every((list) => isUnambiguous(list, name));
  return withServers(item, ({ path, fields, url, secret }) => {
    const own = fields[secret];
    if (!(own instanceof Secret) || own.value !== undefined) return fields;
    const origin = originOf(fields[url]);
    const match = known.find((one) => one.origin === origin);
    if (match) {
      const isKept = isAlone && origin !== undefined;
      return { ...fields, [secret]: new Secret(match.secret.value, undefined, isKept) };
    }
    refuse(
      [...path, secret],
      `The function "${name}" needs the environment variable ${own.variable}, which is not set`,
      known.length > 0 ? "the stored secret is for another address" : undefined,
    );
    return fields;
  });
}

/** Whether the name and the origin of an address say which secret of the list is meant, as the server needs it to keep one. */
function isUnambiguous(functions: readonly Fields[], name: string): boolean {
  const same = functions.filter((one) => nameOfFunction(one) === name);
  const origins = same.flatMap(serversOf).map(({ fields, url }) => originOf(fields[url]));
  return same.length === 1 && new Set(origins).size === origins.length;
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
