import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "@jest/globals";
import type { Logger } from "pino";
import { createApp, type App } from "../../src/start/app";
import { MISMATCHES } from "../../src/events/schemas/check-payload";
import { openLogger } from "../../src/platform/logger";
import type { Config } from "../../src/platform/settings/config";
import { newId } from "../../src/platform/database/values/ids";
import { createOrganization, type NewOrganization } from "../../src/account/organization/bootstrap";
import { Api } from "./api";
import { configOf, PUBLIC_KEY, SECRET_KEY } from "./config";
import { createDatabase, type TestDatabase } from "./database";
import { filesInS3 } from "./files-in-s3";
import { rememberDatabase } from "./importers";
import { knowsPrepared } from "./pgbouncer";
import { Twilio } from "./twilio";

export interface RunningApp {
  /** Without a trailing slash. */
  readonly url: string;
  readonly database: TestDatabase;
  readonly app: App;
  readonly dataDir: string;
  /** Keys of the default organization. */
  readonly secretKey: string;
  readonly publicKey: string;
  /** The telephony provider that the service uses. */
  readonly twilio: Twilio;
  /** Client with the default organization's SECRET key. */
  readonly api: Api;
  /** Creates another organization. */
  otherOrganization(): Promise<NewOrganization & { api: Api }>;
}

/** Starts the service in this process on a given database. */
export async function startApp(
  database: TestDatabase,
  env: Record<string, string> = {},
  logger: Logger = openLogger(configOf(env).LOG_LEVEL),
): Promise<RunningApp & { stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-files-"));
  const twilio = await new Twilio().start();
  const clear = async () => {
    await twilio.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const settings = { DATA_DIR: dataDir, TWILIO_BASE_URL: twilio.url, ...env };
  const config = {
    ...configOf({ ...filesInS3(settings), ...settings }),
    ...placesOf(database),
  };
  const app = await createApp(
    config,
    config.ROW_LEVEL_SECURITY ? database.url : database.ownerUrl, // policies hide all rows from other roles
    logger,
    database.jobsUrl,
  ).catch(async (error: unknown) => {
    await clear();
    throw error;
  });
  const mismatches: unknown[] = [];
  const note = (mismatch: unknown) => void mismatches.push(mismatch);
  MISMATCHES.subscribe(note);
  await new Promise<void>((resolve) => app.server.listen(0, "127.0.0.1", resolve));
  await app.startWork();
  rememberDatabase(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, app.database);
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    database,
    app,
    dataDir,
    twilio,
    secretKey: SECRET_KEY,
    publicKey: PUBLIC_KEY,
    api: new Api(url, { "X-API-Key": SECRET_KEY }),
    otherOrganization: async () => {
      const made = await createOrganization(app.database.scope(newId()), { name: "Another organization" });
      return { ...made, api: new Api(url, { "X-API-Key": made.secretKey }) };
    },
    stop: async () => {
      await app.close();
      await clear();
      MISMATCHES.unsubscribe(note);
      if (mismatches.length > 0)
        throw new Error(`Events do not match their schemas: ${JSON.stringify(mismatches)}`);
    },
  };
}

/** Settings of a server whose database is behind PgBouncer or has a replica. */
const placesOf = ({ url, directUrl }: TestDatabase): Partial<Config> => ({
  ...(process.env.TEST_REPLICA_PORT && {
    DATABASE_REPLICA_URL: Object.assign(new URL(url), { port: process.env.TEST_REPLICA_PORT }).href,
  }),
  ...(directUrl !== undefined && { DATABASE_DIRECT_URL: directUrl, DATABASE_PREPARE: knowsPrepared() }),
});

/** Starts the service on its own database, for all tests of a file. */
export function useApp(env: Record<string, string> = {}, logger?: Logger): RunningApp {
  let running: Awaited<ReturnType<typeof startApp>> | undefined;
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createDatabase();
    running = await startApp(database, env, logger);
  });
  afterAll(async () => {
    await running?.stop();
    await database?.drop();
  });
  // The target exists only after beforeAll has run.
  return new Proxy({} as RunningApp, { get: (_, name) => running![name as keyof RunningApp] });
}
