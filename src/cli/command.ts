import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { readConfig } from "../platform/settings/config";
import { connect } from "../platform/database/connect";
import { Database } from "../platform/database/database";
import { checkOwnership } from "../platform/database/data-dir";
import { commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { offlinePorts } from "../platform/providers/offline";
import { prepare } from "../start/prepare";

type Work = (database: Database, options: Readonly<Record<string, string | undefined>>) => Promise<unknown>;

/**
 * Runs a command on the database of the running server and prints its answer, if there is one, as one line of JSON.
 * @param flags names of options without a value; one that is given is passed as "true"
 */
export function command(names: readonly string[], work: Work, flags: readonly string[] = []): void {
  run(names, work, flags).catch((error: unknown) => {
    console.error((error as Error).message);
    process.exitCode = 1;
  });
}

async function run(names: readonly string[], work: Work, flags: readonly string[]): Promise<void> {
  const { values: given } = parseArgs({
    options: Object.fromEntries<{ readonly type: "string" | "boolean" }>([
      ...names.map((name) => [name, { type: "string" }] as const),
      ...flags.map((name) => [name, { type: "boolean" }] as const),
    ]),
  });
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  if (existsSync(".env")) process.loadEnvFile(".env");
  const settings = readConfig(process.env);
  await checkOwnership(settings.DATA_DIR);
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  const knex = connect(url, { pool: 2, rowSecurity: settings.ROW_LEVEL_SECURITY });
  try {
    const config = await withEncryptionKeys(settings);
    await prepare(config, url);
    const answer = await work(new Database(knex, offlinePorts(config)), values);
    if (answer !== undefined) console.log(JSON.stringify(answer));
  } finally {
    await knex.destroy();
    await stop();
  }
}

/** Id of the organization that an option names, or of the default one. @throws Error for one that does not exist */
export async function existingOrganization(database: Database, id: string | undefined): Promise<string> {
  const found = id === undefined ? await database.defaultOrganizationId() : id;
  const organizations = database.scope(found ?? "").shared("organizations");
  const known = await organizations.where({ id: found ?? "" });
  if (known.length === 0)
    throw new Error(
      id === undefined ? "There is no default organization." : `No organization with id "${id}".`,
    );
  return found!;
}
