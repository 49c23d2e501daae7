import type { Logger } from "pino";
import type { Config } from "../platform/settings/config";
import { watchClock } from "../platform/database/clock-watch";
import { servingOptions, type ConnectOptions } from "../platform/database/connections/connect";
import { Database } from "../platform/database/database";
import { openPool } from "../platform/database/distributed/open-pool";
import { currentHold } from "../platform/database/connections/holds";
import { sweepFiles } from "../assistants/files/janitor";
import type { Metrics } from "../http/metrics/metrics";
import { useOf } from "../platform/database/readings";
import { startWhenReleased } from "../platform/jobs/held-jobs";
import { startJobs } from "../worker/start-jobs";
import type { Ports } from "../platform/ports/ports";

/** Connections for deliveries: they make few statements, and each waits for the one before. */
export const DELIVERY_POOL = { pool: 4, name: "parley deliveries", avoidsSorts: true } as const;
/** Pause between two sweeps of the file storage, in milliseconds. */
const SWEEP_INTERVAL_MS = 3_600_000;

/** The background work of a server. */
export interface Background extends Pick<Ports, "jobSlot" | "deliveryRoom"> {
  readonly stop: () => Promise<void>;
}

interface BackgroundOptions {
  readonly config: Config;
  readonly url: string;
  readonly jobsUrl: string;
  readonly ports: Ports;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Whether requests wait for connections: jobs let them go first. */
  readonly givesWay: () => boolean;
  /** Notes that an organization has written, if there is a replica. */
  readonly wrote?: ConnectOptions["wrote"];
}

/**
 * Starts the clock check, the jobs and the hourly removal of files that a crash left behind, with their own
 * connections.
 */
export async function startBackground(options: BackgroundOptions): Promise<Background> {
  const { config, jobsUrl, ports, logger, metrics } = options;
  const { listener, outbound } = ports;
  const { knex, database, deliveries } = await openDatabases(options);
  const clock = await watchClock(database, logger);
  const start = async () => {
    const jobs = config.WORKER
      ? await startJobs({
          ...{ database, deliveries, url: jobsUrl },
          listener,
          outbound,
          logger,
          reports: metrics,
          ...timesOf(config),
        })
      : undefined;
    return { jobs, timer: keepSweeping(database, ports.storage, logger) };
  };
  const held = await startWhenReleased({
    listener,
    isHeld: async () => (await currentHold(knex)) !== undefined,
    start,
    end: async ({ jobs, timer }) => {
      clearInterval(timer);
      await jobs?.stop();
    },
    failed: (error) => logger.error({ err: error }, "could not start jobs after the release"),
  });
  return {
    jobSlot: (organizationId) => held.started()?.jobs?.jobSlot(organizationId),
    deliveryRoom: (organizationId, event) => held.started()?.jobs?.deliveryRoom(organizationId, event),
    stop: async () => {
      clock.stop();
      await held.stop();
      await Promise.all([deliveries.close(), database.close()]);
    },
  };
}

/** The pools of jobs and of deliveries. */
async function openDatabases({ config, url, ports, logger, metrics, givesWay, wrote }: BackgroundOptions) {
  const serving = { ...servingOptions(config), logger, wrote };
  const knex = await openPool(url, { ...serving, pool: config.DATABASE_POOL, name: "parley jobs", givesWay });
  const deliveries = await openPool(url, { ...serving, ...DELIVERY_POOL });
  metrics.watchPool("jobs", () => useOf(knex));
  metrics.watchPool("deliveries", () => useOf(deliveries));
  return { knex, database: new Database(knex, ports), deliveries: new Database(deliveries, ports) };
}

function keepSweeping(database: Database, storage: Ports["storage"], logger: Logger): NodeJS.Timeout {
  const sweep = () =>
    void sweepFiles(database, storage).catch((error: unknown) =>
      logger.warn({ err: error }, "could not remove orphaned files"),
    );
  sweep();
  return setInterval(sweep, SWEEP_INTERVAL_MS).unref();
}

const timesOf = (config: Config) => ({
  idleMinutes: config.IDLE_TIMEOUT_MINUTES,
  takeoverMs: config.TAKEOVER_SECONDS * 1_000,
  webhookTimeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1_000,
});
