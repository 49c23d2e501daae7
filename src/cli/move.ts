import { moveDatabase } from "../backup/move";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { prepare } from "../start/prepare";
import { databaseUrlProblem, withVerification } from "../platform/settings/database-url";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { operator } from "./operator";
import { recordInAudit } from "./record-in-audit";

const { usage: USAGE } = COMMANDS["cli/move"];

operator(async (settings) => {
  const { values } = parseArguments(USAGE, { options: { to: { type: "string" } } });
  if (values.to === undefined) throw new Error(`Name an empty database: ${USAGE}`);
  const problem = databaseUrlProblem(values.to);
  if (problem !== undefined) throw new Error(`--to ${problem}. Name an empty database: ${USAGE}`);
  const to = withVerification(values.to);
  const { ownerUrl: from, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings, from);
    const skipped = await moveDatabase(from, to, async () => {
      await prepare(config, to, true);
      await recordInAudit(to, config, "move");
    });
    for (const table of skipped) console.log(`Skipped table ${table}: the new database cannot store it.`);
    console.log("Moved. Start the servers with DATABASE_URL set to the new database");
    console.log(
      settings.ENCRYPTION_KEYS === undefined
        ? `and ENCRYPTION_KEYS set to the content of ${config.DATA_DIR}/encryption-keys. Files stay in ${config.filesDir}.`
        : "and the same ENCRYPTION_KEYS. Files stay in their place.",
    );
    console.log("The old database is held: a server started on it sends nothing.");
  } finally {
    await stop();
  }
});
