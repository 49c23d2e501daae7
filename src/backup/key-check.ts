import type { Crypto } from "../platform/crypto";

/** What a set of encryption keys can be checked by, without showing anything of them: each key's id, and its digest of that. */
export type KeyCheck = Readonly<Record<string, string>>;

/** @throws Error that names the keys of a backup that are missing here */
export function checkKeys(wanted: KeyCheck, crypto: Crypto): void {
  const here = crypto.checkValues();
  const lacking = Object.keys(wanted).filter((id) => here[id] !== wanted[id]);
  if (lacking.length > 0)
    throw new Error(
      `ENCRYPTION_KEYS lacks ${lacking.length === 1 ? "the key" : "keys"} ${lacking.join(", ")} of this backup: its secrets cannot be read and its API keys cannot be found. Nothing was changed. Set ENCRYPTION_KEYS to the keys of the original installation.`,
    );
}
