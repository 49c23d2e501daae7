import { hash } from "node:crypto";
import type { SecretsBySlot } from "../history/function-secrets";

/** Prefix of the slot with the digest of the secret that was stored when the draft was copied. No other slot begins like this. */
const THEN = "then ";

/** The secrets of a draft for a copy, which remembers those that were stored instead. */
export const copiedSecrets = (secrets: SecretsBySlot, stored: SecretsBySlot): SecretsBySlot => ({
  ...secrets,
  ...Object.fromEntries(Object.keys(secrets).map((slot) => [THEN + slot, digestOf(stored[slot])])),
});

/** The secrets for a conversation with a copy: one that has been stored or removed since takes the place of the copied one. */
export function secretsInForce(copied: SecretsBySlot, stored: SecretsBySlot): SecretsBySlot {
  const isCurrent = (slot: string) => [undefined, digestOf(stored[slot])].includes(copied[THEN + slot]);
  return { ...stored, ...Object.fromEntries(Object.entries(copied).filter(([slot]) => isCurrent(slot))) };
}

const digestOf = (secret: string | undefined): string =>
  secret === undefined ? "" : hash("sha256", secret, "base64");

/**
 * A draft keeps no copy of a secret that is stored anyway: publishing it later would bring back one that was replaced.
 * @param kept slots for which publishing could not tell which stored secret is meant
 */
export const changedSecrets = (
  current: SecretsBySlot,
  given: SecretsBySlot,
  kept: readonly string[],
): SecretsBySlot =>
  Object.fromEntries(
    Object.entries(given).filter(([slot, secret]) => secret !== current[slot] || kept.includes(slot)),
  );
