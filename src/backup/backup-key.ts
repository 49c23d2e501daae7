import { readFile } from "node:fs/promises";
import { MIN_KEY_LENGTH } from "../platform/settings/backup-settings";

/** The key that encrypts a backup, as an operator gave it. */
export interface BackupKey {
  /** The setting or file that has the key, for messages. */
  readonly source: string;
  readonly passphrase?: string;
  /** Public keys of age, which can only encrypt. */
  readonly recipients: readonly string[];
  /** Secret keys of age, which encrypt and decrypt. */
  readonly identities: readonly string[];
}

/** Reads the key from a file, or else from the setting. @returns undefined if there is neither */
export async function findBackupKey(
  file: string | undefined,
  setting: string | undefined,
): Promise<BackupKey | undefined> {
  if (file === undefined) return setting === undefined ? undefined : backupKey(setting, "BACKUP_KEY");
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`The key file ${file} cannot be read: ${error.message}.`, { cause: error });
  });
  return backupKey(text, file);
}

/** Parses a key: a passphrase, or keys of age in lines as `age-keygen` writes them, or separated by commas. */
export function backupKey(text: string, source: string): BackupKey {
  const lines = text.split(/[\n,]/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const identities = keys.filter((key) => key.startsWith("AGE-SECRET-KEY-"));
  const recipients = keys.filter((key) => key.startsWith("age1"));
  if (identities.length + recipients.length === 0) {
    if (keys.length === 0) throw new Error(`${source} contains no key.`);
    const passphrase = text.trim();
    if (passphrase.length < MIN_KEY_LENGTH)
      throw new Error(
        `${source} must contain an age key, or a passphrase of at least ${MIN_KEY_LENGTH} characters.`,
      );
    return { source, passphrase, recipients, identities };
  }
  if (identities.length + recipients.length < keys.length)
    throw new Error(`${source} mixes keys of age with other text. Separate keys by commas or lines.`);
  return { source, recipients, identities };
}
