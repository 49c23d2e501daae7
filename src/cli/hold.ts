import { findBackupKey } from "../backup/backup-key";
import { hold } from "../backup/hold";
import { openBackup } from "../backup/restore";
import { connect } from "../platform/database/connections/connect";
import { Database } from "../platform/database/database";
import { holdMessage } from "../platform/database/connections/holds";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { offlinePorts } from "../platform/providers/offline";
import { openBackupPlace } from "../platform/providers/open-backup-place";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { eraseSince } from "./erase-since";
import { operator } from "./operator";

const { usage: USAGE } = COMMANDS["cli/hold"];

operator(async (settings) => {
  const { values } = parseArguments(USAGE, {
    options: {
      note: { type: "string", default: "a copy of the database" },
      erasures: { type: "string" },
      "key-file": { type: "string" },
    },
  });
  const { erasures: place, "key-file": keyFile } = values;
  const newer =
    place === undefined
      ? undefined
      : await openBackup(openBackupPlace(place, settings), await findBackupKey(keyFile, settings.BACKUP_KEY));
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  const db = connect(url, { pool: 2 });
  try {
    const config = await withEncryptionKeys(settings, url);
    await prepare(config, url);
    const held = await hold(new Database(db, offlinePorts(config)), values.note);
    if (newer) await eraseSince("hold", newer, config, url);
    console.log(holdMessage(held));
  } finally {
    await db.destroy();
    await stop();
  }
});
