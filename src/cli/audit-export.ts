import { exportAudit } from "../account/audit/audit-export";
import COMMANDS from "./commands.json";
import { command, existingOrganization } from "./command";

/** Writes the audit log of an organization as NDJSON: one entry per line, then the head of the chain. */
const { usage: USAGE } = COMMANDS["cli/audit-export"];

command({ usage: USAGE, options: ["organization"] }, async (database, { organization }) => {
  const id = await existingOrganization(database, organization);
  for await (const line of exportAudit(database.scope(id)))
    if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once("drain", resolve));
});
