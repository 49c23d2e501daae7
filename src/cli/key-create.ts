import type { Database } from "../database/database";
import { Keys } from "../organization/keys";
import { command } from "./command";

/** `npm run --silent key:create [-- --organization ID] [--type SECRET|PUBLIC]`: without an id, for the default organization. */
command(["organization", "type"], async (database, { organization, type = "SECRET" }) => {
  if (type !== "SECRET" && type !== "PUBLIC") throw new Error("--type must be SECRET or PUBLIC");
  const organizationId = await existing(database, organization);
  const { id, value } = await database.scope(organizationId).of(Keys).create({ type });
  return { organizationId, keyId: id, type, value };
});

async function existing(database: Database, id: string | undefined): Promise<string> {
  const found = id === undefined ? await database.defaultOrganizationId() : id;
  const organizations = database.scope(found ?? "").shared("organizations");
  const known = (await organizations.where({ id: found ?? "" })) as unknown[];
  if (known.length === 0) throw new Error(`There is no organization ${id ?? ""}`);
  return found!;
}
