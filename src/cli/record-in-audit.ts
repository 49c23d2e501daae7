import { recordCommand } from "../account/audit/record-command";
import type { Config } from "../platform/settings/config";
import { connect } from "../platform/database/connections/connect";
import { Database } from "../platform/database/database";
import { offlinePorts } from "../platform/providers/offline";

/** Records a command that filled a database in the audit log of every organization in it. */
export async function recordInAudit(url: string, config: Config, operation: string): Promise<void> {
  const db = connect(url, { pool: 1 });
  const database = new Database(db, offlinePorts(config));
  await database.transaction((database) => recordCommand(database, operation)).finally(() => db.destroy());
}
