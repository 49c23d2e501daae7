import { parseArgs } from "node:util";
import pg from "pg";
import { randomText } from "../auth/crypto";
import { creation, grants, userOf, type Roles } from "../database/roles";
import { migrate } from "../database/migrate";
import { installJobs } from "../jobs/install";
import { operator } from "./operator";

const OPTIONS = {
  apply: { type: "boolean", default: false },
  serving: { type: "string", default: "parley_serving" },
  jobs: { type: "string", default: "parley_jobs" },
} as const;

/** `npm run database:roles [-- --apply] [--serving NAME] [--jobs NAME]` */
operator(async (config) => {
  const { values } = parseArgs({ options: OPTIONS });
  const owner = config.DATABASE_OWNER_URL ?? config.DATABASE_URL;
  if (owner === undefined)
    throw new Error(
      "Roles are for a PostgreSQL of your own: set DATABASE_URL to its owner's. The embedded one has a single role.",
    );
  const given = config.DATABASE_OWNER_URL === undefined ? undefined : config.DATABASE_URL;
  const serving = urlFor(owner, given, values.serving);
  const jobs = urlFor(owner, config.DATABASE_JOBS_URL, values.jobs);
  const roles: Roles = { owner: userOf(owner), serving: userOf(serving), jobs: userOf(jobs) };
  const statements = [
    creation(roles.serving, decodeURIComponent(serving.password)),
    creation(roles.jobs, decodeURIComponent(jobs.password)),
    ...grants(roles),
  ];
  if (values.apply) {
    await migrate(owner, () => installJobs(owner));
    await apply(owner, statements);
  } else {
    console.log(
      "-- As a role that may create roles, and is or owns what the owner owns, after the first start:",
    );
    for (const statement of statements) console.log(`${statement};`);
  }
  const settings = {
    DATABASE_OWNER_URL: owner,
    DATABASE_URL: serving.href,
    DATABASE_JOBS_URL: jobs.href,
    ROW_LEVEL_SECURITY: "true",
  };
  console.log(
    `${values.apply ? "Done. " : "\n-- "}Settings of the servers (a role that was there keeps its password):`,
  );
  for (const [name, value] of Object.entries(settings))
    console.log(`${values.apply ? "" : "-- "}${name}=${value}`);
});

/** The URL that is set, or one on the owner's database for a new role. */
function urlFor(owner: string, given: string | undefined, name: string): URL {
  const url = new URL(given ?? owner);
  if (given === undefined) {
    url.username = encodeURIComponent(name);
    url.password = randomText(24);
  }
  return url;
}

/** In one transaction. */
async function apply(connectionString: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query("begin");
    for (const statement of statements) await client.query(statement);
    await client.query("commit");
  } finally {
    await client.end();
  }
}
