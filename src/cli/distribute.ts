import { distribute } from "../platform/database/distributed/distribute";
import { refuseSettings, refuseUnfit } from "../platform/database/distributed/refuse-unfit";
import { whileOthersWait } from "../platform/database/upgrades/migrate";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { operator } from "./operator";

const { usage: USAGE } = COMMANDS["cli/distribute"];

/** Distributes the rows of organizations over the workers of a Citus cluster. */
operator(async (settings) => {
  parseArguments(USAGE, { options: {} });
  refuseSettings(settings);
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    await refuseUnfit(url);
    await prepare(await withEncryptionKeys(settings, url), url);
    let tables: string[] = [];
    await whileOthersWait(url, (_, patiently) =>
      patiently("distribution", async (waiting) => void (tables = await distribute(url, waiting))),
    );
    console.log(
      tables.length > 0
        ? `Distributed ${tables.length} tables. Start the servers again.`
        : "All tables are distributed already.",
    );
  } finally {
    await stop();
  }
});
