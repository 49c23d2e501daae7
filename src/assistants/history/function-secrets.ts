import { hash } from "node:crypto";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { replaceMembers, type MemberChange } from "../../platform/json/replace-members";

/** The configurations that have functions. */
export const SPOKEN_KINDS = ["voice", "sms", "chat"] as const;
export type SpokenKind = (typeof SPOKEN_KINDS)[number];
export const isSpoken = (kind: string): kind is SpokenKind => SPOKEN_KINDS.some((one) => one === kind);

/** Stands for a secret in a version: the one that is stored now for the function and the origin of its URL. */
const STORED_TEXT = JSON.stringify({ stored: true });

/** A place for a secret in a list of functions. */
export interface SecretPlace {
  /** Index of the function. */
  readonly index: number;
  /** The same for all functions with one name and origin, and for all without a name and with one origin. */
  readonly twins: string;
  /** Names the kind of configuration, the function, and the origin of its URL. */
  readonly slot: string;
  /** The secret; `STORED` for the stored one, `UNUSABLE` for a value that is no text, undefined for none. */
  readonly secret: string | typeof STORED | typeof UNUSABLE | undefined;
  readonly object: JsonObject;
  readonly key: string;
}

export const STORED = Symbol("stored");
const UNUSABLE = Symbol("unusable");

/** Secrets by slot. */
export type SecretsBySlot = Readonly<Record<string, string>>;

/** The slots of a list of functions, and the secrets of those that have one. */
export interface Slots {
  readonly slots: readonly string[];
  readonly secrets: SecretsBySlot;
}

/** All slots in the JSON text of a list of functions, with their secrets. */
export function slotsWithSecrets(kind: SpokenKind, text: string): Slots {
  const places = placesIn(kind, JSON.parse(text));
  const secrets = places.flatMap(({ slot, secret }) => (typeof secret === "string" ? [[slot, secret]] : []));
  return { slots: places.map(({ slot }) => slot), secrets: Object.fromEntries(secrets) as SecretsBySlot };
}

/** The secrets in the JSON text of a list of functions. */
export const secretsIn = (kind: SpokenKind, text: string): SecretsBySlot =>
  slotsWithSecrets(kind, text).secrets;

/** All slots of a list of functions, with a secret or without. */
export const slotsIn = (kind: SpokenKind, text: string): string[] =>
  placesIn(kind, JSON.parse(text)).map(({ slot }) => slot);

/** Slots of a list of functions that stand for stored secrets. */
export const storedSlotsIn = (kind: SpokenKind, text: string): string[] =>
  placesIn(kind, JSON.parse(text)).flatMap(({ slot, secret }) => (secret === STORED ? [slot] : []));

/** Slots of a list of functions that stand for stored secrets, but are not among these. */
export const lostSlotsIn = (kind: SpokenKind, text: string, stored: SecretsBySlot): string[] =>
  storedSlotsIn(kind, text).filter((slot) => !Object.hasOwn(stored, slot));

/**
 * The JSON text of a list of functions with `{"stored":true}` instead of secrets, otherwise as it is written. A secret that is
 * no text has no effect, and is left out.
 */
export const withoutSecrets = (kind: SpokenKind, text: string): string =>
  changed(kind, text, ({ secret }) => {
    if (secret === undefined || secret === STORED) return undefined;
    return { value: secret === UNUSABLE ? undefined : STORED_TEXT };
  });

/** The reverse of `withoutSecrets`. A secret that is not stored is left out. */
export const withSecrets = (kind: SpokenKind, text: string, stored: SecretsBySlot): string =>
  changed(kind, text, ({ slot, secret }) =>
    secret === STORED
      ? { value: Object.hasOwn(stored, slot) ? JSON.stringify(stored[slot]) : undefined }
      : undefined,
  );

/** The list without the requests for the stored secrets of some slots. */
export const withoutRequests = (kind: SpokenKind, text: string, slots: readonly string[]): string =>
  changed(kind, text, ({ slot, secret }) =>
    secret === STORED && slots.includes(slot) ? { value: undefined } : undefined,
  );

/** The function of a slot, with its name as JSON. */
export function functionOf(slot: string): { kind: string; name: string } {
  const [kind, name] = JSON.parse(slot.replace(/ \d+$/, "")) as [string, unknown]; // as placesIn made it
  return { kind, name: JSON.stringify(name) };
}

/** Warns the caller about slots whose secrets are to be kept but are not stored. */
export function warnOfLostSecrets(scope: Scope, kind: SpokenKind, slots: readonly string[]): void {
  for (const slot of slots) {
    scope.warn(
      `${kind}.functions: no secret is stored for the function ${functionOf(slot).name} and the origin of its URL, so it has none.`,
    );
  }
}

function changed(
  kind: SpokenKind,
  text: string,
  changeOf: (place: SecretPlace) => Pick<MemberChange, "value"> | undefined,
): string {
  const value = JSON.parse(text) as unknown;
  const changes = placesIn(kind, value).flatMap((place): MemberChange[] => {
    const change = changeOf(place);
    return change ? [{ object: place.object, key: place.key, ...change }] : [];
  });
  return replaceMembers(text, value, changes);
}

/**
 * A secret stands beside the URL of a function, or as `secret` beside the URL of its server. Both places have the same slot,
 * so that a secret is replaced or removed in either format. The place that the format of the function uses comes first.
 */
export function placesIn(kind: SpokenKind, functions: unknown): SecretPlace[] {
  const taken = new Map<string, number>();
  return (Array.isArray(functions) ? (functions as unknown[]) : [])
    .filter(isObject)
    .flatMap((item, index) => {
      const { name: own } = isObject(item.function) ? item.function : item;
      const name = own === undefined ? `#${index + 1}` : own;
      const places = [{ object: item, key: "secretKey", url: item.serverUrl }];
      if (isObject(item.server)) places.push({ object: item.server, key: "secret", url: item.server.url });
      if (isObject(item.function)) places.reverse();
      return places.map(({ object, key, url }) => {
        const [slot, twins] = [name, own].map((one) => slotOf(kind, one, originOf(url))) as [string, string];
        const number = (taken.get(slot) ?? 0) + 1;
        taken.set(slot, number);
        const secret = secretOf(object[key]);
        return { index, twins, object, key, secret, slot: number === 1 ? slot : `${slot} ${number}` };
      });
    });
}

/** Slots are part of an index of the database, which refuses longer entries. */
const MAX_SLOT_BYTES = 2_000;

function slotOf(kind: SpokenKind, name: unknown, origin: string): string {
  const slot = JSON.stringify([kind, name, "secretKey", origin]);
  return Buffer.byteLength(slot) <= MAX_SLOT_BYTES
    ? slot
    : JSON.stringify([kind, beginningOf(name), "secretKey", hash("sha256", slot, "hex")]);
}

/** The end of a slot after the name of its function. */
const END = /,"(secret|secretKey)",("(?:[^"\\]|\\.)*"\](?: \d+)?)$/;

/** The slot of one that is stored. Earlier releases had slots of their own for secrets beside the URL of a server. */
export const slotOfStored = (stored: string): string => stored.replace(END, ',"secretKey",$2');

/** Slots as they may be stored. */
export const storedFormsOf = (slots: readonly string[]): string[] =>
  slots.flatMap((slot) => [slot, slot.replace(END, ',"secret",$2')]);

/** Stored secrets by their slots. */
export const secretsOfStored = (stored: SecretsBySlot): SecretsBySlot =>
  Object.fromEntries(
    Object.entries(stored)
      .toSorted(([one], [other]) => Number(isCurrentForm(one)) - Number(isCurrentForm(other))) // the last one counts
      .map(([slot, secret]) => [slotOfStored(slot), secret]),
  );

const isCurrentForm = (stored: string): boolean => slotOfStored(stored) === stored;

/** The first characters of a name, for messages. */
const beginningOf = (name: unknown): string =>
  `${(typeof name === "string" ? name : JSON.stringify(name)).slice(0, 100)}…`;

function secretOf(value: unknown): SecretPlace["secret"] {
  if (isObject(value) && value.stored === true) return STORED;
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : UNUSABLE;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A secret goes only to the origin that it was given for. */
const originOf = (url: unknown): string =>
  typeof url === "string" && URL.canParse(url) ? new URL(url).origin : "";
