import { hold } from "../backup/hold";
import { connect } from "../platform/database/connect";
import { Database } from "../platform/database/database";
import { holdMessage } from "../platform/database/holds";
import { commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { offlinePorts } from "../platform/providers/offline";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { operator } from "./operator";

const { usage: USAGE } = COMMANDS["cli/hold"];

operator(async (settings) => {
  const options = { note: { type: "string", default: "a copy of the database" } } as const;
  const { values } = parseArguments(USAGE, { options });
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  const db = connect(url, { pool: 2 });
  try {
    const config = await withEncryptionKeys(settings, url);
    await prepare(config, url);
    console.log(holdMessage(await hold(new Database(db, offlinePorts(config)), values.note)));
  } finally {
    await db.destroy();
    await stop();
  }
});
