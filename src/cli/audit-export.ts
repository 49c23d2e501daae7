import { exportAudit } from "../account/audit/audit-export";
import { command, existingOrganization } from "./command";

/** `npm run --silent audit:export -- --organization ID`: writes the audit log as NDJSON, one entry a line and the head of the chain at the end. */
command(["organization"], async (database, { organization }) => {
  const id = await existingOrganization(database, organization);
  for await (const line of exportAudit(database.scope(id)))
    if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once("drain", resolve));
});
