import { recordCommand } from "../audit/record-command";
import type { Config } from "../config";
import { connect } from "../database/connect";
import { Database } from "../database/database";
import { offlinePorts } from "../ports/offline";

/** Records a command that has filled a database in the audit log of every organization in it. */
export async function recorded(url: string, config: Config, operation: string): Promise<void> {
  const db = connect(url, { pool: 1 });
  const database = new Database(db, offlinePorts(config));
  await database.transaction((database) => recordCommand(database, operation)).finally(() => db.destroy());
}
