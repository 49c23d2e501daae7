import "./production";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import pino from "pino";
import { createApp } from "./app";
import { loadCatalog } from "./catalog/load-catalog";
import { readConfig, type Config } from "./config";
import { serverDatabase, withEncryptionKeys } from "./database/open";
import { addressOf } from "./http/address";
import { settingsOpenTo } from "./http/settings-door";
import type { NewOrganization } from "./organization/bootstrap";
import { prepare } from "./prepare";

/** How long requests that run may go on after a signal, in milliseconds. */
const GRACE = 10_000;

async function main(): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const settings = readConfig(process.env);
  loadCatalog(settings.CATALOG_FILE); // a wrong one is told before the database is touched
  await tryAddress(settings); // and so is an address that is in use: keys made before would be shown to nobody
  const config = await withEncryptionKeys(settings);
  const logger = pino(
    { level: config.LOG_LEVEL, redact: { paths: ["err.bindings", "err.config"], remove: true } },
    pino.destination(2),
  );
  const database = await serverDatabase(config, (line) => console.log(line));
  try {
    const made = await prepare(config, database.url);
    const app = await createApp(config, database.url, logger);
    await listen(app.server, config);
    console.log(welcome(config, config.PUBLIC_BASE_URL ?? addressOf(app.server, config.HOST), made));
    onSignal(async () => {
      await Promise.race([app.close(), new Promise((resolve) => setTimeout(resolve, GRACE))]);
      await database.stop();
    });
  } catch (error) {
    await database.stop();
    throw error;
  }
}

type Address = Pick<Config, "HOST" | "PORT">;

const listen = (server: Server, { HOST, PORT }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(PORT, HOST, resolve);
  });

/** @throws Error that says why the address cannot be listened on */
async function tryAddress(address: Address): Promise<void> {
  const server = createServer();
  await listen(server, address).catch(({ code, message }: NodeJS.ErrnoException) => {
    const { HOST, PORT } = address;
    throw new Error(
      code === "EADDRINUSE"
        ? `The address ${HOST}:${PORT} is in use already: set PORT to another, or end the server that has it.`
        : `HOST ${HOST} and PORT ${PORT} cannot be listened on: ${message}`,
    );
  });
  await new Promise((resolve) => server.close(resolve));
}

/** What a person sees who started the service. */
function welcome(config: Config, url: string, made: NewOrganization | undefined): string {
  const given = config.BOOTSTRAP_SECRET_KEY !== undefined;
  const open = settingsOpenTo(config);
  const lines = ["Parley is ready.", "", ...placesOf(config, url), ""];
  if (made && given)
    lines.push(
      "The default organization was made, with the keys of BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY.",
      "",
    );
  if (made && !given) {
    lines.push("Keys of the default organization, made just now and not shown again:", "");
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
      "A lost key is replaced by `npm run --silent key:create`.",
      "",
    );
  }
  return lines.join("\n");
}

/** What runs where. */
function placesOf(config: Config, url: string): string[] {
  const open = settingsOpenTo(config);
  return [
    `  GraphQL        ${url}/graphql   (in a browser: the playground)`,
    `  REST           ${url}/rest/v1   (documentation: ${url}/rest/docs)`,
    `  Widget         ${url}/widget/demo${open === "none" ? "?assistantId=…   (with the id of an assistant" : "   (an assistant to talk with"})`,
    `  Data           ${config.embedded ? `embedded PostgreSQL in ${config.DATA_DIR}` : "PostgreSQL of DATABASE_URL"}`,
    `  Calls          ${config.VAPI_API_KEY === undefined ? "simulated (VAPI_API_KEY is not set)" : "made by Vapi"}`,
    `  /rest/v1/settings without a credential: ${open === "none" ? "refused" : open === "all" ? "OPEN to everybody" : "open to callers on this machine"}`,
  ];
}

function onSignal(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    });
}

function fail(error: unknown): void {
  const { message, stack } = error as Error;
  console.error(process.env.LOG_LEVEL === "debug" ? stack : message);
  process.exit(1);
}

main().catch(fail);
