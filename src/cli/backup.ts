import { Crypto } from "../platform/crypto";
import { findBackupKey, type BackupKey } from "../backup/backup-key";
import type { Manifest } from "../backup/manifest";
import { writeBackup } from "../backup/write-backup";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { openBackupPlace } from "../platform/providers/open-backup-place";
import type { BackupPlace } from "../platform/ports/backup-place";
import { explainedStorage } from "../platform/providers/open-storage";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { counted } from "../platform/errors";
import { operator } from "./operator";
import { ownVersion } from "../platform/version";

const { usage: USAGE } = COMMANDS["cli/backup"];

operator(async (settings) => {
  const flag = { type: "boolean" as const, default: false };
  const { values, positionals } = parseArguments(USAGE, {
    options: { "include-keys": flag, encrypt: flag, "key-file": { type: "string" } },
    allowPositionals: true,
  });
  const [target] = positionals;
  if (target === undefined || positionals.length > 1)
    throw new Error(`Name one new place for the backup: ${USAGE}`);
  const key = await findBackupKey(values["key-file"], settings.BACKUP_KEY);
  if (values.encrypt && key === undefined)
    throw new Error("--encrypt needs a key. Set BACKUP_KEY, or name a file that has it with --key-file.");
  const place = openBackupPlace(target, settings);
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings, url);
    const keys = config.ENCRYPTION_KEYS!;
    const manifest = await writeBackup({
      url,
      place,
      key,
      storage: explainedStorage(config),
      crypto: new Crypto(keys),
      version: ownVersion(),
      encryptionKeys: values["include-keys"] ? keys : undefined,
      signal: interruption(place),
      warn: (message) => console.error(message),
    });
    report(manifest, place, key);
    console.log(
      values["include-keys"]
        ? `The backup includes ENCRYPTION_KEYS: anyone ${key ? "who can decrypt" : "with access to"} it can read every secret in it. Protect it like the keys.`
        : `The backup does not include ENCRYPTION_KEYS${settings.ENCRYPTION_KEYS ? "" : ` (${config.DATA_DIR}/encryption-keys)`} and cannot be restored without them. Keep a copy of the keys elsewhere, or use --include-keys.`,
    );
  } finally {
    await stop();
  }
});

/** Ends the backup at the first signal; a second one ends the process. */
function interruption(place: BackupPlace): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () => {
      const rest = place.discard ? "Nothing of it remains" : "What it has stored remains, and is no backup";
      controller.abort(new Error(`The backup to ${place.name} was interrupted (${signal}). ${rest}.`));
    });
  return controller.signal;
}

function report({ at, tables, files, missingFiles }: Manifest, { name }: BackupPlace, key?: BackupKey): void {
  for (const file of missingFiles)
    console.error(`Missing from the file storage, so not in the backup: ${file}`);
  console.log(
    `Wrote the ${key ? "encrypted " : ""}backup of ${at} to ${name}: ${counted(tables.length, "table")}, ${counted(files.count, "file")}.`,
  );
  if (key) console.log(decryptedBy(key));
}

function decryptedBy({ source, passphrase, identities, recipients }: BackupKey): string {
  if (passphrase !== undefined || identities.length > 0)
    return `Only the key in ${source} decrypts it. Keep a copy of that key elsewhere.`;
  return `Only the secret ${recipients.length === 1 ? "key" : "keys"} of ${recipients.join(", ")} can decrypt it.`;
}
