import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { newKeys } from "./command";
import { operator } from "./operator";

/** Does to the database what the start of a server does, so that an upgrade can do it before servers are replaced. */
operator(async (settings) => {
  parseArguments(COMMANDS["cli/migrate"].usage, {});
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings, url);
    const created = await prepare(config, url);
    if (created && config.BOOTSTRAP_SECRET_KEY === undefined) console.log(newKeys(created));
    console.log(
      "The database has all migrations of this version. A running server performs their online steps.",
    );
  } finally {
    await stop();
  }
});
