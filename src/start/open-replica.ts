import type { Logger } from "pino";
import type { ReplicaMetrics } from "../http/metrics/replica-metrics";
import type { Config } from "../platform/settings/config";
import { connect, servingOptions } from "../platform/database/connections/connect";
import { refuseOtherServer, Replica } from "../platform/database/replica/replica";
import { WritePositions } from "../platform/database/replica/write-positions";
import { FROM_POOLER } from "../platform/database/connections/open-client";
import { requireDirect } from "../platform/database/connections/pooler";
import { serverFacts, type ServerFacts } from "../platform/database/connections/same-database";

/** The replica of an installation, and what its servers note for it. */
export interface Replication {
  readonly replica: Replica;
  /** Resolves when a change that the organization has committed is noted. */
  readonly wrote: (organizationId: string) => Promise<void>;
  close(): Promise<void>;
}

type Settings = Pick<
  Config,
  "DATABASE_REPLICA_URL" | "DATABASE_DIRECT_URL" | "DATABASE_POOL" | "DATABASE_PREPARE" | "ROW_LEVEL_SECURITY"
>;

/**
 * Opens the replica; undefined if the settings name none. A replica that cannot be reached is logged: the server reads
 * from the primary until it can.
 * @param url URL of the primary
 * @throws Error if the URL names something else than a replica of the primary, or leads to it through a pooler
 */
export async function openReplica(
  config: Settings,
  url: string,
  logger: Pick<Logger, "warn" | "debug">,
  metrics: Pick<ReplicaMetrics, "countRead" | "watch">,
): Promise<Replication | undefined> {
  const { DATABASE_REPLICA_URL: replicaUrl, DATABASE_DIRECT_URL: direct = url } = config;
  if (replicaUrl === undefined) return undefined;
  const options = { ...servingOptions(config), pooled: false, logger };
  const facts = await serverFacts(direct);
  const name = "parley replica";
  const db = connect(replicaUrl, { ...options, pool: config.DATABASE_POOL, name });
  const primary = connect(direct, { ...options, pool: 1, name: "parley positions" });
  const replica = new Replica(db, primary, facts, logger, metrics.countRead);
  metrics.watch(() => replica.lagBytes());
  const found = await directFacts(replicaUrl).catch((error: unknown) => {
    if (FROM_POOLER.test(String(error))) throw error;
    replica.failed(error);
  });
  if (found) refuseOtherServer(found, facts);
  const positions = new WritePositions(primary, logger);
  return {
    replica,
    wrote: (organizationId) => positions.wrote(organizationId),
    close: async () => {
      await Promise.all([positions.close(), replica.close()]);
    },
  };
}

/** @throws Error if the URL leads to a pooler, or to nothing that answers */
async function directFacts(url: string): Promise<ServerFacts> {
  const facts = await serverFacts(url);
  await requireDirect(url);
  return facts;
}
