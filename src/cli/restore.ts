import { Crypto } from "../platform/crypto";
import { findBackupKey } from "../backup/backup-key";
import { refuseFilled, refuseStored } from "../backup/empty";
import { ENCRYPTED } from "../backup/encryption";
import { checkKeys, missingKeys } from "../backup/key-check";
import type { Manifest } from "../backup/manifest";
import {
  hasOnlyFilesOf,
  includedKeys,
  includedKeysFile,
  openBackup,
  restoreBackup,
  verifyBackup,
  type Backup,
} from "../backup/restore";
import type { Config } from "../platform/settings/config";
import { connect } from "../platform/database/connections/connect";
import { checkOwnership } from "../platform/database/embedded/data-dir";
import { hasEmbedded } from "../platform/database/embedded/embedded";
import {
  keepEncryptionKeys,
  keptEncryptionKeys,
  keysFile,
  restoreDatabase,
} from "../platform/database/connections/open";
import { openBackupPlace } from "../platform/providers/open-backup-place";
import { explainedStorage } from "../platform/providers/open-storage";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { eraseSince } from "./erase-since";
import { counted } from "../platform/errors";
import { operator } from "./operator";
import { recordInAudit } from "./record-in-audit";

const { usage: USAGE } = COMMANDS["cli/restore"];

operator(async (settings) => {
  const { positionals, values } = parseArguments(USAGE, {
    allowPositionals: true,
    options: { erasures: { type: "string" }, "key-file": { type: "string" } },
  });
  const place = placeOf(positionals);
  await checkOwnership(settings.DATA_DIR);
  const key = await findBackupKey(values["key-file"], settings.BACKUP_KEY);
  const open = (name: string) => openBackup(openBackupPlace(name, settings), key);
  const backup = await open(place);
  const newer = values.erasures === undefined ? undefined : await open(values.erasures);
  const config = await withKeys(settings, backup);
  await refuseOtherKeys(backup, config);
  await refuseOtherFile(backup, config);
  const storage = explainedStorage(config);
  await refuseStored(storage, config.filesDir, config.S3_BUCKET === undefined).catch(async (error: Error) => {
    const state = await databaseState(config);
    if (state === "remains" && (await hasOnlyFilesOf(backup, storage))) return;
    const problems = state instanceof Error ? [error.message, state.message] : [error.message];
    throw new Error(problems.join("\n"), { cause: error });
  });
  await verifyBackup(backup);
  const { ownerUrl: url, stop } = await restoreDatabase(config, say);
  try {
    const skipped = await restoreBackup(backup, url, storage, async () => {
      await prepare(config, url, true);
      await recordInAudit(url, config, "restore");
    });
    if (config.embedded) await keepEncryptionKeys(config.DATA_DIR, config.ENCRYPTION_KEYS!);
    reportRestored(backup.manifest, skipped);
    if (newer) await eraseSince("restore", newer, config, url);
    if (settings.ENCRYPTION_KEYS === undefined && !config.embedded) await printKeys(backup);
    console.log(
      "The installation is HELD: turns, calls, text messages and deliveries wait. `npm run release` sends them. If the original kept running after the backup, use `npm run release -- --drop`, which discards them.",
    );
  } finally {
    await stop();
  }
}, false);

const said = new Set<string>();
/** Prints a line once, although the database may be opened twice. */
function say(line: string): void {
  if (!said.has(line)) console.error(line);
  said.add(line);
}

function placeOf([place, ...more]: readonly string[]): string {
  if (place === undefined || more.length > 0) throw new Error(`Name the place of the backup: ${USAGE}`);
  return place;
}

function reportRestored({ tables, files, at }: Manifest, skipped: readonly string[]): void {
  console.log(
    `Restored the backup of ${at}: ${counted(tables.length - skipped.length, "table")}, ${counted(files.count, "file")}.`,
  );
  for (const table of skipped) console.log(`Skipped table ${table}: this database cannot store it.`);
}

async function refuseOtherKeys(backup: Backup, config: Config): Promise<void> {
  checkKeys(backup.manifest.keys, new Crypto(config.ENCRYPTION_KEYS!), await includedKeysFile(backup));
}

/**
 * The file with keys in DATA_DIR is never overwritten, and servers without the setting use it.
 * @throws Error if it lacks keys of the backup
 */
async function refuseOtherFile({ manifest }: Backup, { embedded, DATA_DIR: dataDir }: Config): Promise<void> {
  const stored = embedded ? await keptEncryptionKeys(dataDir) : undefined;
  if (stored === undefined || missingKeys(manifest.keys, new Crypto(stored)).length === 0) return;
  const file = keysFile(dataDir);
  throw new Error(
    `The file ${file} has other keys than the backup: a server could not read the restored secrets with it. Nothing was changed. Restore into an empty DATA_DIR, or keep the file with the backups that need it and move it away:\n  mv '${file}' '${file}.old'`,
  );
}

async function printKeys(backup: Backup): Promise<void> {
  const file = (await includedKeysFile(backup))!; // the keys were read from it
  const decrypted = file.endsWith(ENCRYPTED)
    ? ', which `age` decrypts: see "Encrypted backups" in docs/backup.md'
    : "";
  console.log(
    `The backup's encryption keys were used. Before you start servers, set ENCRYPTION_KEYS to the content of ${file}${decrypted}.`,
  );
}

/** Whether the database is empty or has remains of an interrupted restore, or why it cannot be restored into. */
async function databaseState(config: Config): Promise<"empty" | "remains" | Error> {
  if (config.embedded && !(await hasEmbedded(config.DATA_DIR))) return "empty";
  try {
    const { ownerUrl: url, stop } = await restoreDatabase(config, say);
    const db = connect(url, { pool: 1 });
    const hasRemains = await refuseFilled(db)
      .finally(() => db.destroy())
      .finally(stop);
    return hasRemains ? "remains" : "empty";
  } catch (error) {
    return error as Error;
  }
}

/** The keys in the settings, else those in the backup, else those stored beside the embedded database. */
async function withKeys(config: Config, backup: Backup): Promise<Config> {
  const stored = config.embedded ? await keptEncryptionKeys(config.DATA_DIR) : undefined;
  const keys = config.ENCRYPTION_KEYS ?? (await includedKeys(backup)) ?? stored;
  if (keys === undefined)
    throw new Error(
      "The backup does not include encryption keys. Set ENCRYPTION_KEYS to the keys of the original installation (with the embedded database: the content of its file encryption-keys).",
    );
  return { ...config, ENCRYPTION_KEYS: keys };
}
