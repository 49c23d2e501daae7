import { parseArgs } from "node:util";
import { release } from "../backup/release";
import { connect } from "../platform/database/connect";
import { Database } from "../platform/database/database";
import { commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { offlinePorts } from "../platform/providers/offline";
import { prepare } from "../start/prepare";
import { operator } from "./operator";

/** `npm run release [-- --drop]` */
operator(async (settings) => {
  const { values } = parseArgs({ options: { drop: { type: "boolean", default: false } } });
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  const db = connect(url, { pool: 2 });
  try {
    const config = await withEncryptionKeys(settings);
    await prepare(config, url);
    const released = await release(new Database(db, offlinePorts(config)), values.drop);
    if (released === undefined) console.log("Nothing is held.");
    else if (released.dropped === undefined) console.log("Released. Pending work is sent now.");
    else {
      const { jobs, deliveries, texts, calls } = released.dropped;
      console.log(
        `Released. Dropped: ${deliveries} deliveries, ${texts} text messages, ${calls} calls, and ${jobs} jobs in total that would have sent something.`,
      );
    }
  } finally {
    await db.destroy();
    await stop();
  }
});
