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
      withStoredSecret(item, { stored, places, index }, (path, sentence, reason = none) => {
        problems.push(
          local.file.problemAt([channel, "functions", index, ...path], `${sentence}: ${reason}.`),
        );
      }),
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
  readonly places: readonly SecretPlace[];
  /** Index of the function. */
  readonly index: number;
}

function withStoredSecret(
  item: Fields,
  { stored, places, index }: Places,
  refuse: (path: Path, sentence: string, reason?: string) => void,
): Fields {
  const name = nameOfFunction(item);
  return withServers(item, ({ path, fields, secret }) => {
    const own = fields[secret];
    if (!(own instanceof Secret) || own.value !== undefined) return fields;
    const place = places.find((one) => one.index === index && equal(one.path, path))!; // of this function
    const [twins, same] = [places, stored].map((all) => all.filter((one) => isTwin(one, place)));
    const isUnclear = areUnclear(twins!, same!);
    const match = same!.find((one) => one.secret instanceof Secret && one.number === place.number);
    const other = countOf(twins!) === 1 ? same!.find((one) => one.secret instanceof Secret) : undefined;
    const { secret: found } = (isUnclear ? undefined : (match ?? other)) ?? {};
    // The server knows functions without a name by their index, which may have changed.
    if (found instanceof Secret)
      return { ...fields, [secret]: new Secret(found.value, undefined, match !== undefined && name !== "") };
    const isElsewhere = stored.some(
      (one) => one.name === name && one.origin !== place.origin && one.secret instanceof Secret,
    );
    const reason = isUnclear
      ? "the server has several functions with this name and address, so it is unclear whose secret to keep"
      : "the stored secret is for another address";
    refuse(
      [...path, secret],
      `The function "${name}" needs the environment variable ${own.variable}, which is not set`,
      isUnclear || isElsewhere ? reason : undefined,
    );
    return fields;
  });
}

const isTwin = (one: SecretPlace, other: SecretPlace): boolean =>
  one.name === other.name && one.origin === other.origin;

const countOf = (places: readonly SecretPlace[]): number => new Set(places.map(({ index }) => index)).size;

/** Whether the server had several functions with different secrets, and the file has more of them or fewer. */
function areUnclear(twins: readonly SecretPlace[], stored: readonly SecretPlace[]): boolean {
  const secrets = [...new Set(stored.map(({ index }) => index))].map(
    (index) => stored.find((one) => one.index === index && one.secret instanceof Secret)?.secret,
  );
  const values = new Set(secrets.map((secret) => (secret as Secret | undefined)?.value));
  return values.size > 1 && countOf(twins) !== countOf(stored);
}

function originOf(url: unknown): string | undefined {
  const address = textOf(sentValue(url));
  return typeof address === "string" && URL.canParse(address) ? new URL(address).origin : undefined;
}
