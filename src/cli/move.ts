import { parseArgs } from "node:util";
import { moveDatabase } from "../backup/move";
import { commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { prepare } from "../start/prepare";
import { url } from "../platform/settings/setting-kinds";
import { operator } from "./operator";
import { recorded } from "./recorded";

/** `npm run move -- --to URL` */
operator(async (settings) => {
  const { values } = parseArgs({ options: { to: { type: "string" } } });
  const to = url("postgres:", "postgresql:").safeParse(values.to);
  if (!to.success)
    throw new Error("Name an empty database: npm run move -- --to postgres://USER:PASSWORD@HOST:PORT/NAME");
  const { ownerUrl: from, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings);
    const left = await moveDatabase(from, to.data, async () => {
      await prepare(config, to.data, true);
      await recorded(to.data, config, "move");
    });
    for (const table of left) console.log(`Left out, because the new database cannot store it: ${table}.`);
    console.log("Moved. Start the servers with DATABASE_URL set to the new database");
    console.log(
      settings.ENCRYPTION_KEYS === undefined
        ? `and ENCRYPTION_KEYS set to the content of ${config.DATA_DIR}/encryption-keys. Files stay in ${config.filesDir}.`
        : "and the same ENCRYPTION_KEYS. Files stay in their place.",
    );
    console.log("The former database is held: a server started on it sends nothing.");
  } finally {
    await stop();
  }
});
