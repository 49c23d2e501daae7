import type { Logger } from "pino";
import type { Database } from "../platform/database/database";
import type { Listener } from "../platform/database/notifications/listener";
import { prepareDetection } from "../platform/language/detect-language";
import type { Outbound } from "../platform/outbound/http";
import type { Ports } from "../platform/ports/ports";
import type { WorkReports } from "../platform/ports/work-reports";
import { startAddingGrowth } from "../account/organization/stored-size";
import { AuditSealer } from "./audit-sealer/audit-sealer";
import { Dispatcher } from "./dispatcher/dispatcher";
import { DELIVERY_TASK } from "./dispatcher/queue-runs";
import { periodicTasks, slowTasks, soleTasks, tasks } from "./tasks";
import { startWorker } from "./worker";

export interface JobsOptions {
  readonly database: Database;
  /** The same with connections of its own, for deliveries, which do not wait for requests. */
  readonly deliveries: Database;
  /** Database URL with the role of the job worker. */
  readonly url: string;
  readonly listener: Pick<Listener, "on">;
  readonly outbound: Outbound;
  readonly logger: Logger;
  /** A text or SMS chat ends after this many minutes without a message. */
  readonly idleMinutes: number;
  /** A server without a heartbeat for this long is presumed dead, and others take over its work. */
  readonly takeoverMs: number;
  /** Longest time for the answer of a webhook's receiver. */
  readonly webhookTimeoutMs: number;
  readonly reports: WorkReports;
}

/** All background work of this process. */
export interface Jobs extends Pick<Ports, "jobSlot" | "deliveryRoom"> {
  stop(): Promise<void>;
}

/** Starts all background work: turns of assistants, deliveries of events, periodic tasks. */
export async function startJobs(options: JobsOptions): Promise<Jobs> {
  const { database, deliveries, logger } = options;
  options.reports.nameTasks(
    [...Object.keys({ ...tasks, ...soleTasks, ...slowTasks, ...periodicTasks }), DELIVERY_TASK],
    Object.keys(periodicTasks),
  );
  await prepareDetection();
  const worker = await startWorker({ ...options, periodic: periodicTasks });
  const dispatcher = new Dispatcher({ ...options, database: deliveries });
  const sealer = new AuditSealer(database, logger);
  const stopSizes = startAddingGrowth(database, (error) =>
    logger.warn({ err: error }, "stored bytes were not counted"),
  );
  return {
    jobSlot: worker.slot,
    deliveryRoom: (organizationId, event) => dispatcher.room(organizationId, event),
    stop: async () => {
      await Promise.all([worker.stop(), dispatcher.stop(), sealer.stop(), stopSizes()]);
    },
  };
}
