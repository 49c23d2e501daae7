import type { Logger } from "pino";
import type { Database } from "../platform/database/database";
import type { Listener } from "../platform/database/listener";
import type { Outbound } from "../platform/outbound/http";
import { keepSizes } from "../account/organization/stored-size";
import { AuditSealer } from "./audit-sealer";
import { Dispatcher } from "./dispatcher";
import { endIdleChats } from "./idle-chats";
import { periodicTasks } from "./tasks";
import { startWorker, type Worker } from "./worker";

export interface JobsOptions {
  readonly database: Database;
  /** As the role that takes jobs. */
  readonly url: string;
  readonly listener: Pick<Listener, "on">;
  readonly outbound: Outbound;
  readonly logger: Logger;
  /** After how many minutes without a message a text or SMS chat ends. */
  readonly idleMinutes: number;
  /** After how many milliseconds without a sign of life a server is taken for dead. */
  readonly takeover: number;
  /** How many milliseconds the receiver of a webhook has for its answer. */
  readonly webhookTimeout: number;
  /** Counts a job that was given up. */
  readonly countGivenUp: (task: string) => void;
}

const MINUTE = 60_000;

/** Everything that happens later: turns of assistants, deliveries of events, the end of chats that were left. */
export async function startJobs({
  database,
  url,
  listener,
  outbound,
  logger,
  idleMinutes,
  takeover,
  webhookTimeout,
  countGivenUp,
}: JobsOptions): Promise<Worker> {
  const worker = await startWorker({
    database,
    url,
    periodic: periodicTasks,
    takeover,
    logger,
    countGivenUp,
  });
  const times = { takeover, webhookTimeout };
  const dispatcher = new Dispatcher({ database, outbound, listener, logger, countGivenUp, ...times });
  const sealer = new AuditSealer(database, logger);
  const endSizes = keepSizes(database, (error) =>
    logger.warn({ err: error }, "stored bytes were not counted"),
  );
  const sweep = () =>
    void endIdleChats(database, idleMinutes).catch((error: unknown) =>
      logger.warn({ err: error }, "idle chats were not ended"),
    );
  const timer = setInterval(sweep, MINUTE / 2).unref();
  sweep();
  return {
    place: worker.place,
    stop: async () => {
      clearInterval(timer);
      await Promise.all([worker.stop(), dispatcher.stop(), sealer.stop(), endSizes()]);
    },
  };
}
