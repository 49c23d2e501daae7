import { ERASURES } from "../backup/facts";
import type { Backup } from "../backup/restore";
import type { Config } from "../platform/settings/config";
import { connect } from "../platform/database/connect";
import { Database } from "../platform/database/database";
import { offlinePorts } from "../platform/providers/offline";
import { digestsIn, eraseAgain, type BackedUpErasure } from "../privacy/erasure/erase-again";

/** Repeats the erasures that are recorded in a newer backup, and says how many. */
export async function eraseSince({ manifest }: Backup, config: Config, url: string): Promise<void> {
  const db = connect(url, { pool: 2 });
  const erasures = (manifest.facts[ERASURES] ?? []) as BackedUpErasure[]; // as the fact's query selects them
  const found = await eraseAgain(new Database(db, offlinePorts(config)), digestsIn(erasures)).finally(() =>
    db.destroy(),
  );
  console.log(`Erasures to repeat from the backup of ${manifest.at}: ${found}. They run after the release.`);
}
