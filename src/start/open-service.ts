import type { Server } from "node:http";
import type { Knex } from "knex";
import type { Logger } from "pino";
import { Credentials, KEYS_CHANNEL } from "../account/auth/credentials";
import { Crypto } from "../platform/crypto";
import { loadCatalog } from "../platform/catalog/load-catalog";
import { HANG_UP_CHANNEL } from "../channels/calls/hang-up-call";
import { TOKENS_CHANNEL } from "../chats/chats/chats";
import type { Config } from "../platform/settings/config";
import { servingOptions } from "../platform/database/connections/connect";
import { backupRuns } from "../platform/database/copies/backup-lock";
import { Database } from "../platform/database/database";
import type { Client } from "../platform/database/knex-client/client";
import { RELEASE_CHANNEL } from "../platform/database/connections/holds";
import { Listener } from "../platform/database/notifications/listener";
import { openPool } from "../platform/database/distributed/open-pool";
import { useOf } from "../platform/database/readings";
import { OnlineSteps } from "../platform/database/upgrades/online-steps";
import { openReplica } from "./open-replica";
import { aboutServer } from "../platform/database/upgrades/server-marks";
import { hasVectors } from "../platform/database/upgrades/vectors";
import { CHATS_CHANNEL, DELIVERIES_CHANNEL, EVENTS_CHANNEL } from "../events/events/record";
import { type FileStore, guardedStorage } from "../assistants/files/file-store";
import { addressOf } from "../http/address";
import { expressServer, type ExpressServer } from "../http/express-server/express-server";
import { LIMITS_CHANNEL, LimitExchange } from "../http/limits/limit-exchange";
import { RateLimits } from "../http/limits/limits";
import { Metrics } from "../http/metrics/metrics";
import { BoundedAnswers } from "../platform/outbound/bounds";
import { outbound } from "../platform/outbound/http";
import { childReader } from "../platform/providers/child-reader";
import { keptStorage } from "../platform/providers/kept-storage";
import { openEmbeddings } from "../platform/providers/open-embeddings";
import { openModels } from "../platform/providers/open-models";
import { openRetention } from "../platform/providers/open-retention";
import { openQuotas } from "../platform/providers/open-quotas";
import { openStorage } from "../platform/providers/open-storage";
import { openTelephony } from "../platform/providers/open-telephony";
import { openVoice } from "../platform/providers/open-voice";
import { Availability } from "../platform/availability";
import type { Ports } from "../platform/ports/ports";
import type { Storage } from "../platform/ports/storage";
import { McpTools } from "../platform/providers/mcp-tools";
import { threadChecker } from "../platform/providers/thread-checker";
import { SMS_CHANNEL } from "../channels/sms/receipts";
import { claimedStore } from "./claimed-store";
import { startBackground, type Background } from "./start-background";

/** The open service without its two interfaces. */
export interface Service extends ExpressServer {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly credentials: Credentials;
  readonly listener: Listener;
  readonly crypto: Crypto;
  readonly ports: Ports;
  readonly metrics: Metrics;
  readonly fileStore: FileStore;
  readonly limits: RateLimits;
  /** Online steps of migrations that are not done yet. */
  readonly steps: Pick<OnlineSteps, "pending">;
  /** Starts background work. Call it when the server listens: calls that wait are dialed at once, and report to it. */
  readonly startWork: () => Promise<void>;
  /** Stops background work, then closes the database connections. */
  close(): Promise<void>;
}

const CHANNELS = [
  KEYS_CHANNEL,
  CHATS_CHANNEL,
  TOKENS_CHANNEL,
  EVENTS_CHANNEL,
  DELIVERIES_CHANNEL,
  SMS_CHANNEL,
  RELEASE_CHANNEL,
  HANG_UP_CHANNEL,
  LIMITS_CHANNEL,
];

/**
 * Opens the service on a migrated database.
 * @param jobsUrl URL of the same database for the role that runs jobs
 * @param ownerUrl URL of the same database for the role that owns the tables, to perform online steps of migrations
 */
export async function openService(
  config: Config,
  url: string,
  logger: Logger,
  jobsUrl: string,
  ownerUrl?: string,
): Promise<Service> {
  const { app, server } = expressServer();
  const listener = listenerOf(config, config.DATABASE_DIRECT_URL ?? url, logger);
  const metrics = new Metrics();
  const { knex, replication, wrote } = await openPools(config, url, logger, metrics);
  let background: Background | undefined = undefined;
  const answers = boundedAnswers(logger);
  const storage = openStorage(config, answers);
  const ports = portsOf(config, server, listener, await hasVectors(knex), {
    storage: installationStorage(storage, knex, () => fileStore),
    ...{ answers, logger, metrics },
    forgetKey: (organizationId, id) => credentials.forget(organizationId, id),
    jobSlot: (id) => background?.jobSlot(id),
    deliveryRoom: (id, event) => background?.deliveryRoom(id, event),
    replica: replication?.replica,
  });
  const database = new Database(knex, ports);
  metrics.watchDatabase(database, () => useOf(knex));
  const fileStore = await claimedStore(database, storage, config, logger);
  const credentials = new Credentials(database, ports.crypto, listener);
  hangUpSimulated(ports);
  await listener.start();
  const limits = new RateLimits(config, new LimitExchange(listener, logger));
  const shared = { config, url, jobsUrl, ports, logger, metrics, givesWay: crowding(knex), wrote };
  const startWork = async () => void (background = await startBackground(shared));
  const steps = new OnlineSteps(ownerUrl, logger);
  const close = async () => {
    await Promise.all([background?.stop(), steps.stop()]);
    await closePorts(ports, listener);
    await Promise.all([database.close(), replication?.close()]);
  };
  const parts = { app, server, listener, crypto: ports.crypto, ports, metrics, fileStore, startWork, close };
  return { config, logger, database, credentials, steps, ...parts, limits };
}

/** The connections for requests. */
async function openPools(config: Config, url: string, logger: Logger, { replica }: Metrics) {
  const replication = await openReplica(config, url, logger, replica);
  const { wrote } = replication ?? {};
  const knex = await openPool(url, { ...servingOptions(config), pool: config.DATABASE_POOL, logger, wrote });
  return { knex, replication, wrote };
}

/** Whether requests wait for a connection. */
const crowding = (knex: Knex) => () => (knex.client as Client).isCrowded; // as connect makes it

/** Refuses access to another installation's files, and deletes none while a backup runs. */
const installationStorage = (storage: Storage, knex: Knex, fileStore: () => FileStore): Storage =>
  keptStorage(
    guardedStorage(storage, () => fileStore().isReachable()),
    () => backupRuns(knex),
  );

/** Named after the encryption keys too, so that a key rotation can check that every server has the new key. */
const listenerOf = ({ ENCRYPTION_KEYS: keys = [] }: Config, url: string, logger: Logger): Listener =>
  new Listener(
    url,
    CHANNELS,
    aboutServer(new Crypto(keys).ids),
    new Availability(
      logger,
      "PostgreSQL does not answer: requests get 503, and jobs wait, until it does",
      "PostgreSQL answers again",
    ),
  );

/** Ends simulated calls of this server when another server asks for it. */
function hangUpSimulated({ voice: { engine }, listener }: Ports): void {
  if (engine.real) return;
  const call = ({ chatId }: Readonly<Record<string, string>>) => ({ callId: chatId!, since: new Date(0) });
  const none = new AbortController().signal;
  listener.on(HANG_UP_CHANNEL, (ids) => void engine.hangUp(call(ids), none).catch(() => undefined));
}

async function closePorts({ voice, telephone, outbound, checker }: Ports, listener: Listener): Promise<void> {
  await voice.engine.close();
  await telephone.provider.close();
  await listener.stop();
  await outbound.close();
  await checker.close();
}

const boundedAnswers = (logger: Logger) =>
  new BoundedAnswers((err, provider, bound) =>
    logger.error({ err, provider, bound }, "a provider's response is too long"),
  );

function portsOf(
  config: Config,
  server: Server,
  listener: Listener,
  vectors: boolean,
  lateParts: Pick<Ports, "forgetKey" | "jobSlot" | "deliveryRoom" | "storage" | "replica"> & {
    readonly answers: BoundedAnswers;
    readonly logger: Logger;
    readonly metrics: Metrics;
  },
): Ports {
  const { answers, logger, metrics, ...later } = lateParts;
  const reach = outbound(config.OUTBOUND_ALLOW, undefined, answers);
  const ownUrl = () => addressOf(server, config.HOST);
  const publicUrl = () => config.PUBLIC_BASE_URL ?? ownUrl();
  const catalog = loadCatalog(config.CATALOG_FILE);
  return {
    crypto: new Crypto(config.ENCRYPTION_KEYS ?? [], config.keysFile),
    catalog,
    listener,
    outbound: reach,
    models: openModels(config, catalog, reach.fetch, answers, {
      logger,
      count: (outcome) => metrics.countAnswer(outcome),
      observe: (request) => metrics.observeModel(request),
    }),
    voice: openVoice(config, { publicUrl, ownUrl }, answers),
    telephone: openTelephony(config, publicUrl, answers),
    publicUrl,
    embeddings: vectors ? openEmbeddings(config, reach.fetch, answers) : undefined,
    reader: childReader(),
    checker: threadChecker(),
    tools: new McpTools(reach.fetch, answers, logger),
    retention: openRetention(config),
    quotas: openQuotas(config),
    ...later,
  };
}
