import { release } from "../backup/release";
import { connect } from "../platform/database/connections/connect";
import { Database } from "../platform/database/database";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { offlinePorts } from "../platform/providers/offline";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { counted } from "../platform/errors";
import { operator } from "./operator";

const { usage: USAGE } = COMMANDS["cli/release"];

operator(async (settings) => {
  const { values } = parseArguments(USAGE, { options: { drop: { type: "boolean", default: false } } });
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line), true);
  const db = connect(url, { pool: 2 });
  try {
    const config = await withEncryptionKeys(settings, url);
    await prepare(config, url);
    const released = await release(new Database(db, offlinePorts(config)), values.drop);
    if (released === undefined) console.log("Nothing is held.");
    else if (released.dropped === undefined) console.log("Released. Pending work now continues.");
    else {
      const { jobs, deliveries, texts, calls } = released.dropped;
      console.log(
        `Released. Dropped: ${counted(deliveries, "delivery", "deliveries")}, ${counted(texts, "text message")}, ${counted(calls, "call")}, and ${counted(jobs, "job")} in total that would have sent something.`,
      );
    }
  } finally {
    await db.destroy();
    await stop();
  }
});
