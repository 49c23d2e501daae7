import { commandOf } from "../audit/note";
import { Keys } from "../organization/keys";
import { command, existingOrganization } from "./command";

/** `npm run --silent key:create [-- --organization ID] [--type SECRET|PUBLIC]`: without an id, for the default organization. */
command(["organization", "type"], async (database, { organization, type = "SECRET" }) => {
  if (type !== "SECRET" && type !== "PUBLIC") throw new Error("--type must be SECRET or PUBLIC");
  const organizationId = await existingOrganization(database, organization);
  const operation = commandOf("key:create", "Key", [{ name: "type" }], "api_keys");
  const { id, value } = await database.scope(organizationId).audited(operation).of(Keys).create({ type });
  return { organizationId, keyId: id, type, value };
});
