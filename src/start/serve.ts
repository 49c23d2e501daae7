import pino from "pino";
import { createApp } from "./app";
import type { Config } from "../platform/settings/config";
import { toldOf } from "../platform/database/holds";
import { serverDatabase, type OpenDatabase } from "../platform/database/open";
import { unfitForJobs, unfitToServe } from "../platform/database/roles";
import { addressOf, listen } from "../http/address";
import { settingsOpenTo } from "../http/settings-door";
import type { NewOrganization } from "../account/organization/bootstrap";
import { prepare } from "./prepare";

/** How long requests that run may go on at the end, in milliseconds. */
const GRACE = 10_000;

/**
 * Starts the service on its database and tells its operator where it is.
 * @returns what ends both
 */
export async function serve(config: Config): Promise<() => Promise<void>> {
  const log = pino.destination(2).on("error", () => undefined); // a log that nobody reads any more
  const logger = pino(
    { level: config.LOG_LEVEL, redact: { paths: ["err.bindings", "err.config"], remove: true } },
    log,
  );
  const database = await serverDatabase(config, (line) => console.log(line));
  try {
    const made = await prepare(config, database.ownerUrl, false, () => refuseUnfitRoles(config, database));
    const app = await createApp(config, database.url, logger, database.jobsUrl);
    await listen(app.server, config);
    const hold = await app.database.hold();
    if (hold) console.log(`${toldOf(hold)}\n`);
    console.log(welcome(config, config.PUBLIC_BASE_URL ?? addressOf(app.server, config.HOST), made));
    if (!(await app.filesInReach())) console.log(`${filesOutOfReach(config)}\n`);
    return async () => {
      await Promise.race([app.close(), new Promise((resolve) => setTimeout(resolve, GRACE))]);
      await database.stop();
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** What to do when another server has stored files in a place that this one does not use. */
function filesOutOfReach({ S3_BUCKET: bucket, filesDir }: Config): string {
  const own = bucket === undefined ? `the folder ${filesDir}` : `the bucket ${bucket}`;
  return [
    `FILES ARE NOT SHARED: the servers of this database do not store their files in ${own}.`,
    "This server refuses uploads and downloads, and /health/ready returns 503.",
    "  - If you run several servers: set the same S3_BUCKET on all of them, or mount one shared folder at DATA_DIR/files.",
    "  - If the files were moved or lost: run `npm run files:adopt` with this server's settings to store files here.",
  ].join("\n");
}

/** @throws Error when the roles of the database cannot do what the settings ask for */
async function refuseUnfitRoles(config: Config, { url, jobsUrl }: OpenDatabase): Promise<void> {
  const problem =
    (config.ROW_LEVEL_SECURITY ? await unfitToServe(url) : undefined) ??
    (config.WORKER ? await unfitForJobs(jobsUrl) : undefined);
  if (problem !== undefined) throw new Error(problem);
}

/** What a person sees who started the service. */
function welcome(config: Config, url: string, made: NewOrganization | undefined): string {
  const given = config.BOOTSTRAP_SECRET_KEY !== undefined;
  const open = settingsOpenTo(config);
  const lines = ["Parley is ready.", "", ...placesOf(config, url), ""];
  if (made && given)
    lines.push(
      "Created the default organization with the keys in BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY.",
      "",
    );
  if (made && !given) {
    lines.push("New keys of the default organization (not shown again):", "");
    lines.push(`  SECRET  ${made.secretKey}`, `  PUBLIC  ${made.publicKey}`, "");
    lines.push(
      "Try it:",
      "",
      `  curl -H 'X-API-Key: ${made.secretKey}' ${url}/rest/v1/assistants/templates`,
      "",
    );
  } else {
    const path = open === "none" ? "/health/ready" : "/rest/v1/settings";
    lines.push(
      "Try it:",
      "",
      `  curl ${url}${path}`,
      "",
      "If you lost the key, create another: npm run --silent key:create",
      "",
    );
  }
  return lines.join("\n");
}

/** What runs where. */
function placesOf(config: Config, url: string): string[] {
  const open = settingsOpenTo(config);
  return [
    `  GraphQL        ${url}/graphql   (open in a browser for the playground)`,
    `  REST           ${url}/rest/v1   (documentation: ${url}/rest/docs)`,
    `  Widget         ${url}/widget/demo${open === "none" ? "?assistantId=…   (set the id of an assistant" : "   (an assistant to talk with"})`,
    `  Data           ${config.embedded ? `embedded PostgreSQL in ${config.DATA_DIR}` : "PostgreSQL at DATABASE_URL"}`,
    `  Calls          ${config.VAPI_API_KEY === undefined ? "simulated (VAPI_API_KEY is not set)" : "made by Vapi"}`,
    `  /rest/v1/settings without a credential: ${open === "none" ? "refused" : open === "all" ? "OPEN to everybody" : "open to callers on this machine"}`,
  ];
}
