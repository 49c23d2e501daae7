import { equal } from "./changes";
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
    const stored = placesIn(((before?.[channel] as Fields | undefined)?.functions ?? []) as Fields[]);
    const places = placesIn(after.functions as Fields[]);
    const functions = after.functions.map((item: Fields, index) =>
      withStoredSecret(
        item,
        { stored, places: places.filter((place) => place.index === index) },
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

/** A place for a secret in the functions of a channel. */
interface SecretPlace {
  /** Index of the function. */
  readonly index: number;
  readonly name: string;
  readonly origin: string | undefined;
  /** Distinguishes places with one name and origin, from 1. */
  readonly number: number;
  readonly path: Path;
  readonly secret: unknown;
}

/** The places for secrets in the order of the server, which knows each by name, origin and number. */
function placesIn(functions: readonly Fields[]): SecretPlace[] {
  const taken = new Map<string, number>();
  return functions.flatMap((item, index) => {
    const name = nameOfFunction(item);
    const servers = serversOf(item);
    if (isFields(item.function)) servers.reverse();
    return servers.map(({ path, fields, url, secret }) => {
      const origin = originOf(fields[url]);
      const slot = JSON.stringify([name, origin]);
      const number = (taken.get(slot) ?? 0) + 1;
      taken.set(slot, number);
      return { index, name, origin, number, path, secret: fields[secret] };
    });
  });
}

interface Places {
  readonly stored: readonly SecretPlace[];
  /** Those of the function. */
  readonly places: readonly SecretPlace[];
}

function withStoredSecret(
  item: Fields,
  { stored, places }: Places,
  refuse: (path: Path, sentence: string, reason?: string) => void,
): Fields {
  const name = nameOfFunction(item);
  const known = stored.filter((one) => one.name === name && one.secret instanceof Secret);
  return withServers(item, ({ path, fields, secret }) => {
    const own = fields[secret];
    if (!(own instanceof Secret) || own.value !== undefined) return fields;
    const { origin, number } = places.find((place) => equal(place.path, path))!; // of this function
    const same = known.filter((one) => one.origin === origin);
    const match = same.find((one) => one.number === number);
    const { secret: found } = match ?? same[0] ?? {};
    // The server knows functions without a name by their index, which may have changed.
    if (found instanceof Secret)
      return { ...fields, [secret]: new Secret(found.value, undefined, match !== undefined && name !== "") };
    refuse(
      [...path, secret],
      `The function "${name}" needs the environment variable ${own.variable}, which is not set`,
      known.length > 0 ? "the stored secret is for another address" : undefined,
    );
    return fields;
  });
}

function originOf(url: unknown): string | undefined {
  const address = textOf(sentValue(url));
  return typeof address === "string" && URL.canParse(address) ? new URL(address).origin : undefined;
}
