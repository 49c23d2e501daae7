import type { Crypto } from "../platform/crypto";

/**
 * Check values of a set of encryption keys that reveal nothing about them: each key's id and its digest of that id.
 */
export type KeyCheck = Readonly<Record<string, string>>;

/** Ids of the keys that are missing. */
export function missingKeys(wanted: KeyCheck, crypto: Crypto): string[] {
  const here = crypto.checkValues();
  return Object.keys(wanted).filter((id) => here[id] !== wanted[id]);
}

/** @param file the file in the backup that has its keys; @throws Error naming the backup's keys that are missing here */
export function checkKeys(wanted: KeyCheck, crypto: Crypto, file: string | undefined): void {
  const missing = missingKeys(wanted, crypto);
  if (missing.length > 0)
    throw new Error(
      `ENCRYPTION_KEYS lacks ${missing.length === 1 ? "the key" : "the keys"} ${missing.join(", ")} of this backup: its secrets cannot be read and its API keys cannot be found. Nothing was changed. Set ENCRYPTION_KEYS to the keys of the original installation${file === undefined ? "" : `, which are in ${file}`}.`,
    );
}
