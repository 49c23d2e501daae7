import { randomText } from "../platform/crypto";
import { roleSettings } from "../platform/database/connections/pooler";
import { creation, grants, userOf, type Roles } from "../platform/database/upgrades/roles";
import { describeDatabase } from "../platform/database/connections/database-name";
import { refuseMoved } from "../platform/database/connections/refuse-moved";
import { migrate } from "../platform/database/upgrades/migrate";
import { openClient } from "../platform/database/connections/open-client";
import { installJobs } from "../platform/jobs/install";
import type { Config } from "../platform/settings/config";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { operator } from "./operator";

const OPTIONS = {
  apply: { type: "boolean", default: false },
  serving: { type: "string", default: "parley_serving" },
  jobs: { type: "string", default: "parley_jobs" },
} as const;

const { usage: USAGE } = COMMANDS["cli/database-roles"];

operator(async (config) => {
  const { values } = parseArguments(USAGE, { options: OPTIONS });
  const owner = config.DATABASE_OWNER_URL ?? config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
  if (owner === undefined)
    throw new Error(
      "Set DATABASE_URL to the URL of the role that owns your database. The embedded PostgreSQL has a single role.",
    );
  console.error(`Database: ${describeDatabase(config)}`);
  await refuseMoved(owner, config);
  const servingUrl = config.DATABASE_OWNER_URL === undefined ? undefined : config.DATABASE_URL;
  const serving = urlFor(owner, servingUrl, values.serving);
  const jobs = urlFor(owner, config.DATABASE_JOBS_URL, values.jobs);
  const existingRoles = await findExisting(owner, [serving, jobs]);
  if (servingUrl === undefined) keepPassword(serving, existingRoles);
  if (config.DATABASE_JOBS_URL === undefined) keepPassword(jobs, existingRoles);
  const roles: Roles = { owner: userOf(owner), serving: userOf(serving), jobs: userOf(jobs) };
  const statements = statementsFor(config, owner, roles, { serving, jobs });
  if (values.apply) {
    await migrate(owner, (_, patiently) =>
      patiently("graphile-worker", (waiting) => installJobs(owner, waiting)),
    );
    await apply(owner, statements).catch((error: unknown) => refuse(error, roles.owner));
  } else {
    console.log(
      "-- Run after the first start, as a role that may create roles and that owns the tables or is a member of their owner:",
    );
    for (const statement of statements) console.log(`${statement};`);
  }
  const settings: Readonly<Record<string, string>> = {
    DATABASE_OWNER_URL: owner,
    ...servingUrls(config, serving),
    DATABASE_JOBS_URL: jobs.href,
    ROW_LEVEL_SECURITY: "true",
  };
  console.log(`${values.apply ? "Done. " : "\n-- "}Settings for the servers:`);
  for (const [name, value] of Object.entries(settings))
    console.log(`${values.apply ? "" : "-- "}${name}='${value.replaceAll("'", "%27")}'`);
});

/** The configured URL, or one for a new role on the owner's database. */
function urlFor(owner: string, configured: string | undefined, name: string): URL {
  const url = new URL(configured ?? owner);
  if (configured === undefined) {
    url.username = encodeURIComponent(name);
    url.password = randomText(24);
  }
  return url;
}

/** Replaces the generated password by a placeholder if the role already exists. */
function keepPassword(url: URL, existingRoles: ReadonlySet<string>): void {
  if (existingRoles.has(userOf(url))) url.password = "ITS-EXISTING-PASSWORD";
}

/** The roles that already exist on the server; they keep their passwords. */
async function findExisting(owner: string, urls: readonly URL[]): Promise<ReadonlySet<string>> {
  const client = await openClient(owner, "parley roles");
  const text = "select rolname as name from pg_roles where rolname = any($1)";
  const { rows } = await client.query<{ name: string }>(text, [urls.map(userOf)]).finally(() => client.end());
  return new Set(rows.map(({ name }) => name));
}

/** SQLSTATE of a missing privilege. */
const NOT_ALLOWED = "42501";

/** @throws Error that explains who can run the statements instead */
function refuse(error: unknown, owner: string): never {
  if ((error as { code?: unknown }).code !== NOT_ALLOWED) throw error;
  throw new Error(
    `The role "${owner}" may not do this: ${(error as Error).message}. Run the command without --apply, and have a superuser run the printed SQL with psql: see "Database roles" in docs/operations.md.`,
    { cause: error },
  );
}

/** Runs the statements in one transaction. */
async function apply(url: string, statements: readonly string[]): Promise<void> {
  const client = await openClient(url, "parley roles");
  try {
    await client.query("begin");
    for (const statement of statements) await client.query(statement);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/** Creates both roles, if they are missing, and gives them their rights; behind a pooler also the settings of one. */
const statementsFor = (
  { DATABASE_DIRECT_URL: direct }: Config,
  owner: string,
  roles: Roles,
  { serving, jobs }: Readonly<Record<"serving" | "jobs", URL>>,
): string[] => [
  creation(roles.serving, decodeURIComponent(serving.password)),
  creation(roles.jobs, decodeURIComponent(jobs.password)),
  ...grants(roles),
  ...(direct === undefined ? [] : Object.values(roleSettings(roles.serving, databaseIn(owner)))),
];

const databaseIn = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** The settings of the serving role: its URL, or those through and past a pooler. */
function servingUrls(
  { DATABASE_URL: url, DATABASE_DIRECT_URL: direct }: Config,
  { username, password, href }: URL,
): Record<string, string> {
  if (url === undefined || direct === undefined) return { DATABASE_URL: href };
  const at = (place: string) => Object.assign(new URL(place), { username, password }).href;
  return { DATABASE_URL: at(url), DATABASE_DIRECT_URL: at(direct) };
}
