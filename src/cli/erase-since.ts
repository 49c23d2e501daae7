import { ERASURES } from "../backup/facts";
import type { Backup } from "../backup/restore";
import type { Config } from "../platform/settings/config";
import { connect } from "../platform/database/connections/connect";
import { Database } from "../platform/database/database";
import { offlinePorts } from "../platform/providers/offline";
import {
  digestsIn,
  eraseAgain,
  type BackedUpErasure,
  type RepeatingCommand,
} from "../privacy/erasure/erase-again";

/** Repeats the erasures that are recorded in a newer backup, and says how many. @param command the one that repeats them */
export async function eraseSince(
  command: RepeatingCommand,
  { manifest }: Backup,
  config: Config,
  url: string,
): Promise<void> {
  const db = connect(url, { pool: 2 });
  const erasures = (manifest.facts[ERASURES] ?? []) as BackedUpErasure[]; // as the fact's query selects them
  const database = new Database(db, offlinePorts(config));
  const found = await eraseAgain(database, digestsIn(erasures), command).finally(() => db.destroy());
  console.log(`Erasures to repeat from the backup of ${manifest.at}: ${found}. They run after the release.`);
}
