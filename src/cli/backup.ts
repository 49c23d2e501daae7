import { resolve } from "node:path";
import { Crypto } from "../platform/crypto";
import { writeBackup } from "../backup/write-backup";
import { commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { openStorage } from "../platform/providers/open-storage";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { counted } from "../platform/errors";
import { operator, ownVersion } from "./operator";

const { usage: USAGE } = COMMANDS["cli/backup"];

operator(async (settings) => {
  const options = { "include-keys": { type: "boolean" as const, default: false } };
  const { values, positionals } = parseArguments(USAGE, { options, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1)
    throw new Error(`Name one new folder for the backup: ${USAGE}`);
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings, url);
    const keys = config.ENCRYPTION_KEYS!;
    const manifest = await writeBackup({
      url,
      folder: resolve(folder),
      storage: openStorage(config),
      crypto: new Crypto(keys),
      version: ownVersion(),
      encryptionKeys: values["include-keys"] ? keys : undefined,
    });
    for (const key of manifest.missingFiles)
      console.error(`Missing from the file storage, so not in the backup: ${key}`);
    console.log(
      `Wrote the backup of ${manifest.at} to ${resolve(folder)}: ${counted(manifest.tables.length, "table")}, ${counted(manifest.files.count, "file")}.`,
    );
    console.log(
      values["include-keys"]
        ? "The backup includes ENCRYPTION_KEYS: anyone with access to it can read every secret in it. Protect it like the keys."
        : `The backup does not include ENCRYPTION_KEYS${settings.ENCRYPTION_KEYS ? "" : ` (${config.DATA_DIR}/encryption-keys)`} and cannot be restored without them. Keep a copy of the keys elsewhere, or use --include-keys.`,
    );
  } finally {
    await stop();
  }
});
