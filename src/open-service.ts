import { createServer, type Server } from "node:http";
import type { Logger } from "pino";
import { Credentials, KEYS_CHANNEL } from "./auth/credentials";
import { Crypto } from "./auth/crypto";
import { loadCatalog } from "./catalog/load-catalog";
import { TOKENS_CHANNEL } from "./chats/chats";
import type { Config } from "./config";
import { connect } from "./database/connect";
import { watchClock } from "./database/clock-watch";
import { Database } from "./database/database";
import { Listener } from "./database/listener";
import { hasVectors } from "./database/vectors";
import { CHATS_CHANNEL, DELIVERIES_CHANNEL, EVENTS_CHANNEL } from "./events/record";
import { FileStore, guardedStorage } from "./files/file-store";
import { sweepFiles } from "./files/janitor";
import { addressOf } from "./http/address";
import { Metrics } from "./http/metrics";
import { startJobs } from "./jobs/start-jobs";
import { outbound } from "./outbound/http";
import { childReader } from "./ports/child-reader";
import { openEmbeddings } from "./ports/open-embeddings";
import { openModels } from "./ports/open-models";
import { openStorage } from "./ports/open-storage";
import { openTelephony } from "./ports/open-telephony";
import { openVoice } from "./ports/open-voice";
import type { Ports } from "./ports/ports";
import { SMS_CHANNEL } from "./sms/receipts";

/** Everything behind the faces: open, and working. */
export interface Service {
  readonly config: Config;
  readonly logger: Logger;
  readonly server: Server;
  readonly database: Database;
  readonly credentials: Credentials;
  readonly listener: Listener;
  readonly crypto: Crypto;
  readonly ports: Ports;
  readonly metrics: Metrics;
  readonly fileStore: FileStore;
  /** Stops what works in the background, then lets go of the database. */
  close(): Promise<void>;
}

const CHANNELS = [
  KEYS_CHANNEL,
  CHATS_CHANNEL,
  TOKENS_CHANNEL,
  EVENTS_CHANNEL,
  DELIVERIES_CHANNEL,
  SMS_CHANNEL,
];
const SWEEP_EVERY = 3_600_000;

/**
 * Opens the service on a migrated database.
 * @param ownerUrl the same database as the owner of its tables, where the service itself runs as a lesser role
 */
export async function openService(
  config: Config,
  url: string,
  logger: Logger,
  ownerUrl: string,
): Promise<Service> {
  const server = createServer({ requireHostHeader: false }); // Node would refuse with an empty body
  const listener = new Listener(url, CHANNELS);
  const { DATABASE_POOL: pool, ROW_LEVEL_SECURITY: rowSecurity } = config;
  const knex = connect(url, { pool, rowSecurity });
  let background: Background | undefined = undefined;
  const storage = openStorage(config);
  const ports = portsOf(config, server, listener, await hasVectors(knex), {
    storage: guardedStorage(storage, () => fileStore.inReach()),
    forgetKey: (id) => credentials.forget(id),
    placeForJob: () => background?.placeForJob(),
  });
  const database = new Database(knex, ports);
  const fileStore = new FileStore(database, storage);
  await claimFileStore(fileStore, config);
  const credentials = new Credentials(database, ports.crypto, listener);
  await listener.start();
  // Whatever jobs do, requests find a connection, and find it first.
  const giveWay = () => database.crowded;
  const metrics = new Metrics();
  background = await startBackground({ config, url, ownerUrl, ports, logger, metrics, giveWay });
  return {
    config,
    logger,
    server,
    database,
    credentials,
    listener,
    crypto: ports.crypto,
    ports,
    metrics,
    fileStore,
    close: async () => {
      await background?.stop();
      await closePorts(ports, listener);
      await database.close();
    },
  };
}

async function closePorts({ voice, telephone, outbound }: Ports, listener: Listener): Promise<void> {
  await voice.engine.close();
  await telephone.provider.close();
  await listener.stop();
  await outbound.close();
}

/** @throws Error that names the setting, if the storage can't be reached or written */
async function claimFileStore(fileStore: FileStore, config: Config): Promise<void> {
  await fileStore.claim().catch((error: unknown) => {
    const place =
      config.S3_BUCKET === undefined ? `DATA_DIR ${config.filesDir}` : `S3_BUCKET ${config.S3_BUCKET}`;
    throw new Error(`${place} can't hold files: ${(error as Error).message}`, { cause: error });
  });
}

function portsOf(
  config: Config,
  server: Server,
  listener: Listener,
  vectors: boolean,
  later: Pick<Ports, "forgetKey" | "placeForJob" | "storage">,
): Ports {
  const reach = outbound(config.OUTBOUND_ALLOW);
  const ownUrl = () => addressOf(server, config.HOST);
  const publicUrl = () => config.PUBLIC_BASE_URL ?? ownUrl();
  return {
    crypto: new Crypto(config.ENCRYPTION_KEYS ?? []),
    catalog: loadCatalog(config.CATALOG_FILE),
    listener,
    outbound: reach,
    models: openModels(config, reach.fetch),
    voice: openVoice(config, { publicUrl, ownUrl }),
    telephone: openTelephony(config, publicUrl),
    publicUrl,
    embeddings: vectors ? openEmbeddings(config, reach.fetch) : undefined,
    reader: childReader(),
    ...later,
  };
}

interface Background extends Pick<Ports, "placeForJob"> {
  readonly stop: () => Promise<void>;
}

interface BackgroundOptions {
  readonly config: Config;
  readonly url: string;
  readonly ownerUrl: string;
  readonly ports: Ports;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Whether those who are in more of a hurry need the connections. */
  readonly giveWay: () => boolean;
}

/** The clock, jobs, and the sweeping of files that a crash left, with connections of their own. */
async function startBackground(options: BackgroundOptions): Promise<Background> {
  const { config, url, ownerUrl, ports, logger, metrics, giveWay } = options;
  const { listener, outbound } = ports;
  const { DATABASE_POOL: pool, ROW_LEVEL_SECURITY: rowSecurity } = config;
  const database = new Database(connect(url, { pool, rowSecurity, name: "parley jobs", giveWay }), ports);
  const { IDLE_TIMEOUT_MINUTES: idleMinutes, EVENT_RETENTION_DAYS: eventDays } = config;
  const clock = await watchClock(database, logger);
  const takeover = config.TAKEOVER_SECONDS * 1_000;
  const webhookTimeout = config.WEBHOOK_TIMEOUT_SECONDS * 1_000;
  const times = { idleMinutes, eventDays, takeover, webhookTimeout };
  const countGivenUp = (task: string) => metrics.countGivenUp(task);
  const jobs = config.WORKER
    ? await startJobs({ database, url: ownerUrl, listener, outbound, logger, countGivenUp, ...times })
    : undefined;
  const sweep = () =>
    void sweepFiles(database, ports.storage).catch((error: unknown) =>
      logger.warn({ err: error }, "files were not swept"),
    );
  const timer = setInterval(sweep, SWEEP_EVERY).unref();
  sweep();
  return {
    placeForJob: () => jobs?.place(),
    stop: async () => {
      clearInterval(timer);
      clock.stop();
      await jobs?.stop();
      await database.close();
    },
  };
}
