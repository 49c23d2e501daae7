import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyType = "SECRET" | "PUBLIC";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = { SECRET: "parley_sk_", PUBLIC: "parley_pk_" } as const satisfies Record<KeyType, string>;
/** Number of random characters: 30 of an alphabet of 62 have 178 bits. */
const RANDOM_LENGTH = 30;

/** A new key value: prefix, 178 random bits and a checksum, by which secret scanners recognize real keys. */
export function newKeyValue(type: KeyType): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return PREFIX[type] + random + checksum(random);
}

/** A key value shortened for display: `parley_sk_…w3Xy`. */
export const masked = (value: string): string =>
  `${/^parley_[sp]k_/.exec(value)?.[0] ?? value.slice(0, 3)}…${value.slice(-4)}`;

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let count = 0; count < 6; count++) {
    digits = ALPHABET[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
