import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createApp } from "./app";
import type { Config } from "../platform/settings/config";
import { databaseName, describeDatabase } from "../platform/database/connections/database-name";
import { holdMessage } from "../platform/database/connections/holds";
import { explained } from "../platform/database/connections/open-client";
import { serverDatabase, withEncryptionKeys, type OpenDatabase } from "../platform/database/connections/open";
import { searchProblem } from "../platform/database/connections/suitable";
import { describeTransport } from "../platform/database/connections/transport";
import { unfitForJobs, unfitToServe } from "../platform/database/upgrades/roles";
import { noteAddress } from "../platform/settings/noted-address";
import { addressOf, listen } from "../http/address";
import { LOCAL_HOST, settingsAccess } from "../http/callers/settings-access";
import { AnalyticsTokens } from "../account/organization/analytics-tokens";
import type { NewOrganization } from "../account/organization/bootstrap";
import { answeredBy } from "../account/organization/answered-by";
import { openLogger } from "../platform/logger";
import { isUnreachable } from "../platform/errors";
import type { Database } from "../platform/database/database";
import { refuseUnfitPooler, requireDirect } from "../platform/database/connections/pooler";
import { prepare } from "./prepare";
import { mistake } from "../platform/mistake";

/**
 * Starts the service on its database and prints its addresses.
 * @param onReady gets a function that stops both, before the addresses are printed: a signal may follow at once
 */
export async function serve(settings: Config, onReady: (stop: () => Promise<void>) => void): Promise<void> {
  const logger = openLogger(settings.LOG_LEVEL);
  const database = await serverDatabase(settings, (line) => console.log(line));
  try {
    const config = await withEncryptionKeys(settings, database.ownerUrl);
    const checkFitness = () => refuseUnfitRoles(config, database);
    const created = await prepare(config, database.ownerUrl, false, checkFitness, logger);
    const problem = await searchProblem(database.ownerUrl);
    if (problem !== undefined) console.error(`Warning: ${problem}`);
    const app = await createApp(config, database.url, logger, database.jobsUrl, database.ownerUrl);
    await listen(app.server, config);
    await app.startWork();
    const forget = await noteAddress(config, addressOf(app.server, config.HOST));
    const hold = await app.database.hold();
    const inReach = await app.filesInReach().catch(() => undefined); // the log has the reason
    const text = welcome(
      config,
      inReach === true,
      config.PUBLIC_BASE_URL ?? addressOf(app.server, config.HOST),
      created,
      await answers(app.database),
      created && (await app.database.scope(created.organizationId).of(AnalyticsTokens).operatorLink()),
    );
    onReady(async () => {
      await forget();
      const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = config;
      await Promise.race([app.close(), sleep((delay + grace) * 1_000).then(() => cutOff(logger, grace))]);
      await database.stop();
    });
    if (hold) console.log(`${holdMessage(hold)}\n`);
    console.log(text);
    if (inReach === false) console.log(`${filesOutOfReach(config)}\n`);
  } catch (error) {
    await database.stop();
    throw explained(error, database.url);
  }
}

/** Logs that work is cut off, and nothing after that: it would be errors of that work about the missing database. */
function cutOff(logger: Logger, seconds: number): void {
  const message = "jobs did not end in time and are cut off; they will be tried again";
  logger.warn({ seconds }, message);
  logger.level = "silent";
}

/** The message for a server whose file storage differs from that of the other servers. */
function filesOutOfReach({ S3_BUCKET: bucket, filesDir }: Config): string {
  const own = bucket === undefined ? `the folder ${filesDir}` : `the bucket ${bucket}`;
  return [
    `FILES ARE NOT SHARED: the servers of this database do not store their files in ${own}.`,
    "This server refuses uploads and downloads, and /health/ready returns 503.",
    "  - If you run several servers: set the same S3_BUCKET on all of them, or mount one shared folder at DATA_DIR/files.",
    "  - If the files were moved or lost: stop the servers, then run `npm run files:adopt` with this server's settings to store files here.",
  ].join("\n");
}

/** @throws Error if the database roles, or a pooler, cannot do what the settings require */
async function refuseUnfitRoles(config: Config, { url, ownerUrl, jobsUrl }: OpenDatabase): Promise<void> {
  const { DATABASE_DIRECT_URL: direct } = config;
  if (direct !== undefined) await refuseUnfitPooler(url, config.DATABASE_PREPARE);
  // Listens, and takes jobs, on connections of its own. Migrations have checked the owner's URL.
  for (const each of new Set([direct ?? url, ...(config.WORKER ? [jobsUrl] : [])]))
    if (each !== ownerUrl) await requireDirect(each);
  const isOther = config.ROW_LEVEL_SECURITY || url !== ownerUrl;
  const problem =
    (isOther ? await unfitToServe(url, config.ROW_LEVEL_SECURITY) : undefined) ??
    (config.WORKER ? await unfitForJobs(jobsUrl) : undefined);
  if (problem !== undefined) throw mistake(new Error(problem));
}

/** Who writes the answers of the default organization. */
async function answers(database: Database): Promise<string> {
  const scope = database.scope((await database.defaultOrganizationId()) ?? "");
  return answeredBy(scope, "operator").catch((error: unknown) => {
    if (!isUnreachable(error)) throw error;
    return "not known, because its worker of Citus is down";
  });
}

const NOT_READY =
  "Parley runs, but is not ready: it cannot use the store of files. /health/ready returns 503 until it can.";

/** The message printed after startup. */
function welcome(
  config: Config,
  isReady: boolean,
  url: string,
  created: NewOrganization | undefined,
  answers: string,
  analytics: string | undefined,
): string {
  const hasOwnKeys = config.BOOTSTRAP_SECRET_KEY !== undefined;
  const lines = [isReady ? "Parley is ready." : NOT_READY, "", ...addressesOf(config, url, answers), ""];
  if (created && hasOwnKeys)
    lines.push(
      "Created the default organization with the keys in BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY.",
      "",
    );
  if (created && !hasOwnKeys) {
    lines.push("New keys of the default organization (save them; they are printed only now):", "");
    lines.push(`  SECRET  ${created.secretKey}`, `  PUBLIC  ${created.publicKey}`, "");
    lines.push("Analytics (the link works for 15 minutes):", "", `  ${analytics}`, "");
    lines.push(
      "Try it:",
      "",
      `  curl -H 'X-API-Key: ${created.secretKey}' ${url}/rest/v1/assistants/templates`,
      "",
    );
  } else {
    const path = opensSettings(config, url) ? "/rest/v1/settings" : "/health/ready";
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

/** The addresses of the interfaces and the state of the main settings. */
function addressesOf(config: Config, url: string, answers: string): string[] {
  const access = settingsAccess(config);
  const demo = opensSettings(config, url) // the page chooses an assistant by the settings
    ? "   (talk to an assistant"
    : "?assistantId=…   (set the id of an assistant";
  return [
    `  GraphQL        ${url}/graphql   (open in a browser for the playground)`,
    `  REST           ${url}/rest/v1   (documentation: ${url}/rest/docs)`,
    `  Widget         ${url}/widget/demo${demo})`,
    `  Documentation  ${url}/docs`,
    `  Analytics      ${url}/analytics   (npm run analytics:link prints a link that signs you in)`,
    `  Listens on     ${listensOn(config)}`,
    `  Data           ${dataOf(config)}`,
    ...replicaOf(config),
    `  Answers        ${answers}`,
    `  Calls          ${config.VAPI_API_KEY === undefined ? "simulated (VAPI_API_KEY is not set)" : "placed by Vapi"}`,
    `  /rest/v1/settings without a credential: ${access === "none" ? "refused" : access === "all" ? "OPEN to everybody" : "open to callers on this machine"}`,
  ];
}

/** Whether the settings need no credential at this URL. Callers on this machine come from elsewhere through a proxy. */
function opensSettings(config: Config, url: string): boolean {
  const access = settingsAccess(config);
  return access === "all" || (access === "loopback" && LOCAL_HOST.test(new URL(url).hostname));
}

/** The addresses at which clients reach the server. */
function listensOn({ HOST: host }: Config): string {
  if (host === "0.0.0.0" || host === "::") return `all addresses of this machine (HOST ${host})`;
  return `${host}${isLoopback(host) ? ", which only this machine reaches" : ""}`;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host.startsWith("127.");

/** The line about the read replica, if the settings name one. */
const replicaOf = ({ DATABASE_REPLICA_URL: url }: Config): string[] =>
  url === undefined
    ? []
    : [`  Replica        PostgreSQL at ${databaseName(url)}, for lists, logs, searches and analytics`];

/** The database, the protection of its connections, and the state of row-level security. */
const dataOf = (config: Config): string =>
  [
    describeDatabase(config),
    describeTransport(config),
    `row-level security ${config.ROW_LEVEL_SECURITY ? "on" : "off"}`,
  ]
    .filter((part) => part !== undefined)
    .join(", ");
