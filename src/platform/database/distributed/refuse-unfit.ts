import type { Config } from "../../settings/config";
import { openClient } from "../open-client";
import { HAS_CITUS, isTrue } from "./is-distributed";

/** Oldest supported major version of Citus. */
const MIN_VERSION = 13;

const CLUSTER = `
  select (select extversion from pg_extension where extname = 'citus') as version,
    (select count(*)::integer from pg_dist_node where groupid = 0) as coordinators,
    (select count(*)::integer from pg_dist_node where groupid <> 0 and isactive and shouldhaveshards) as workers,
    (select groupid from pg_dist_local_group) as "group"`;

interface Cluster {
  readonly version: string;
  readonly coordinators: number;
  readonly workers: number;
  readonly group: number;
}

const SERVERS = `
  select exists (select from pg_stat_activity
    where datname = current_database() and application_name like 'parley listener%') as answer`;

/**
 * Checks that a database can be distributed.
 * @throws Error that says why not
 */
export async function refuseUnfit(config: Config, url: string): Promise<void> {
  const problem = settingsProblem(config) ?? (await problemOf(url));
  if (problem !== undefined) throw new Error(problem);
}

/** Why the settings do not fit; undefined if they do. */
function settingsProblem(config: Config): string | undefined {
  if (config.embedded)
    return "The embedded PostgreSQL cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster.";
  if (config.DATABASE_DIRECT_URL !== undefined)
    return "A server behind a pooler cannot use Citus. Unset DATABASE_DIRECT_URL, and set DATABASE_URL to the coordinator itself.";
  return config.DATABASE_REPLICA_URL === undefined
    ? undefined
    : "A server with a replica cannot use Citus. Unset DATABASE_REPLICA_URL.";
}

async function problemOf(url: string): Promise<string | undefined> {
  const client = await openClient(url, "parley distribute");
  try {
    if (!(await isTrue(client, HAS_CITUS)))
      return "The database (DATABASE_URL) has no Citus: create the extension citus in it first. See docs/citus.md.";
    const { rows } = await client.query<Cluster>(CLUSTER);
    const problem = clusterProblem(rows[0]!);
    if (problem !== undefined) return problem;
    return (await isTrue(client, SERVERS))
      ? "Servers are running on this database: stop them first, because a server learns at its start whether the database is distributed."
      : undefined;
  } finally {
    await client.end();
  }
}

/** Why a cluster cannot be used; undefined if it can. */
export function clusterProblem({ version, coordinators, workers, group }: Cluster): string | undefined {
  if (Number.parseInt(version) < MIN_VERSION)
    return `The database (DATABASE_URL) has Citus ${version}. Version ${MIN_VERSION} or later is required.`;
  if (group !== 0) return "DATABASE_URL leads to a worker of Citus: it must lead to the coordinator.";
  if (coordinators === 0)
    return "The workers do not know the coordinator yet: run SELECT citus_set_coordinator_host('HOST', PORT) with its address first.";
  return workers === 0
    ? "The cluster has no workers: add some first, with SELECT citus_add_node('HOST', PORT)."
    : undefined;
}
