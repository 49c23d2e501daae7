import { commandOf } from "../account/audit/note";
import { PERMISSIONS, type Permission } from "../account/auth/limits";
import { Keys, type KeyInput } from "../account/organization/keys";
import COMMANDS from "./commands.json";
import { command, existingOrganization } from "./command";

const { usage: USAGE } = COMMANDS["cli/key-create"];
const OPTIONS = ["organization", "type", "name", "expires-at", "permissions", "assistants"] as const;

/** Creates a key for the default organization, or for another one by its id. */
command(
  { usage: USAGE, options: OPTIONS, flags: ["import"] },
  async (database, { organization, type = "SECRET", ...rest }) => {
    if (type !== "SECRET" && type !== "PUBLIC")
      throw new Error(`--type must be SECRET or PUBLIC; got "${type}".\nUsage: ${USAGE}`);
    const organizationId = await existingOrganization(database, organization);
    const limits = limitsOf(rest);
    const fields = ["type", ...Object.keys(limits)].map((name) => ({ name }));
    const { id, value } = await database
      .scope(organizationId)
      .audited(commandOf("key:create", "Key", fields, "api_keys"))
      .of(Keys)
      .create({ type, ...limits })
      .catch((error: Error) => {
        throw new Error(error.message.replace(/^expiresAt:/, "--expires-at"), { cause: error });
      });
    return { organizationId, keyId: id, type, value, ...limits };
  },
);

function limitsOf(options: Readonly<Record<string, string | undefined>>): KeyInput {
  const { name, permissions, assistants, import: imports, "expires-at": end } = options;
  const expiresAt = end === undefined ? undefined : new Date(end);
  if (Number.isNaN(expiresAt?.getTime()))
    throw new Error(
      `--expires-at must be an ISO 8601 date and time, such as 2030-01-31T12:00:00Z; got "${end}".\nUsage: ${USAGE}`,
    );
  const allowed = permissions?.split(",") ?? (imports === undefined ? undefined : PERMISSIONS);
  const unknown = allowed?.find((one) => !PERMISSIONS.includes(one as Permission));
  if (unknown !== undefined)
    throw new Error(
      `--permissions must be some of ${PERMISSIONS.join(", ")}, separated by commas; got "${unknown}".\nUsage: ${USAGE}`,
    );
  const all = [...(allowed ?? []), ...(imports === undefined ? [] : ["import"])] as Permission[];
  return {
    ...(name !== undefined && { name }),
    ...(expiresAt && { expiresAt }),
    ...(allowed && { permissions: [...new Set(all)] }),
    ...(assistants !== undefined && { assistantIds: assistants.split(",") }),
  };
}
