import { newId } from "../platform/database/ids";
import { createOrganization } from "../account/organization/bootstrap";
import { command } from "./command";

/** Creates an organization with its first keys. */
const USAGE = "npm run --silent org:create -- --name NAME";

command({ usage: USAGE, options: ["name"] }, (database, { name }) => {
  if (!name?.trim()) throw new Error(`Name the organization: ${USAGE}`);
  return createOrganization(database.scope(newId()), { name: name.trim() });
});
