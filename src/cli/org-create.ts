import { newId } from "../platform/database/ids";
import { createOrganization } from "../account/organization/bootstrap";
import { command } from "./command";

/** `npm run --silent org:create -- --name NAME` */
command(["name"], (database, { name }) => {
  if (!name?.trim()) throw new Error("Name the organization: npm run --silent org:create -- --name NAME");
  return createOrganization(database.scope(newId()), { name: name.trim() });
});
