import type { NewOrganization } from "../account/organization/bootstrap";
import type { Config } from "../platform/settings/config";
import { exitCodeOf } from "../platform/mistake";
import { loadSettings } from "../platform/settings/load-settings";
import { openPool } from "../platform/database/distributed/open-pool";
import { Database } from "../platform/database/database";
import { checkOwnership } from "../platform/database/embedded/data-dir";
import { commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { databaseProblem } from "../platform/database/connections/database-problem";
import { offlinePorts } from "../platform/providers/offline";
import { prepare } from "../start/prepare";
import { parseArguments } from "./arguments";

export interface CommandSyntax {
  /** Shown by `--help` and with errors in the arguments. */
  readonly usage: string;
  /** Names of the options with a value. */
  readonly options: readonly string[];
  /** Names of the options without a value; passed to the command as "true". */
  readonly flags?: readonly string[];
}

type CommandWork = (
  database: Database,
  options: Readonly<Record<string, string | undefined>>,
  start: CommandStart,
) => Promise<unknown>;

export interface CommandStart {
  /** The default organization, if the command has created it. */
  readonly created: NewOrganization | undefined;
  readonly settings: Config;
  /** Names of the variables that were in the environment, where they take precedence over `.env`. */
  readonly environment: ReadonlySet<string>;
}

/**
 * Runs a command on the database of the installation and prints its result, if any, as one line of JSON. Prints
 * errors to standard error and sets the exit code.
 */
export function command(syntax: CommandSyntax, work: CommandWork): void {
  run(syntax, work).catch((error: unknown) => {
    console.error((databaseProblem(error) ?? (error as Error)).message);
    process.exitCode = exitCodeOf(error);
  });
}

async function run({ usage, options, flags = [] }: CommandSyntax, work: CommandWork): Promise<void> {
  const { values: parsed } = parseArguments(usage, {
    options: Object.fromEntries<{ readonly type: "string" | "boolean" }>([
      ...options.map((name) => [name, { type: "string" }] as const),
      ...flags.map((name) => [name, { type: "boolean" }] as const),
    ]),
  });
  const values = Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
  const { settings, environment } = loadSettings();
  await checkOwnership(settings.DATA_DIR);
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  const knex = await openPool(url, { pool: 2, rowSecurity: settings.ROW_LEVEL_SECURITY });
  try {
    const config = await withEncryptionKeys(settings, url);
    const created = await prepare(config, url);
    const answer = await work(new Database(knex, offlinePorts(config)), values, {
      created,
      environment,
      settings: config,
    });
    if (answer !== undefined) console.log(JSON.stringify(answer));
  } finally {
    await knex.destroy();
    await stop();
  }
}

/** The keys of an organization that a command has created. The server would have shown them at its first start. */
export const newKeys = ({ secretKey, publicKey }: NewOrganization): string =>
  `New keys of the default organization (save them; they are printed only now):\n\n  SECRET  ${secretKey}\n  PUBLIC  ${publicKey}\n`;

/** Id of the named organization, or of the default one. @throws Error if it does not exist */
export async function existingOrganization(database: Database, id: string | undefined): Promise<string> {
  const found = id === undefined ? await database.defaultOrganizationId() : id;
  const organizations = database.scope(found ?? "").shared("organizations");
  const known = await organizations.where({ id: found ?? "" });
  if (known.length === 0)
    throw new Error(
      id === undefined
        ? "There is no default organization. Start the server once, or name one with --organization ID."
        : `No organization with id "${id}".`,
    );
  return found!;
}
