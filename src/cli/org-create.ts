import { newId } from "../platform/database/values/ids";
import { createOrganization } from "../account/organization/bootstrap";
import COMMANDS from "./commands.json";
import { command } from "./command";

/** Creates an organization with its first keys. */
const { usage: USAGE } = COMMANDS["cli/org-create"];

command({ usage: USAGE, options: ["name"] }, (database, { name }) => {
  if (!name?.trim()) throw new Error(`Name the organization: ${USAGE}`);
  return createOrganization(database.scope(newId()), { name: name.trim() });
});
