import type { Config } from "../../settings/config";
import { FROM_POOLER, openClient } from "../connections/open-client";
import { requireDirect } from "../connections/pooler";
import { HAS_CITUS, isTrue } from "../migrations/is-distributed";
import { ON_WORKER } from "../connections/refuse-worker";

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

/** @throws Error if servers with these settings cannot use a distributed database */
export function refuseSettings(config: Config): void {
  const problem = settingsProblem(config);
  if (problem !== undefined) throw new Error(problem);
}

/**
 * Checks that a database can be distributed.
 * @throws Error that says why not
 */
export async function refuseUnfit(url: string): Promise<void> {
  const problem = (await poolerProblem(url)) ?? (await problemOf(url));
  if (problem !== undefined) throw new Error(problem);
}

/** Why the settings do not fit; undefined if they do. */
function settingsProblem(config: Config): string | undefined {
  if (config.embedded)
    return "The embedded PostgreSQL cannot be distributed. Move to a Citus cluster by npm run move, then set DATABASE_URL to its coordinator. See docs/citus.md.";
  if (config.DATABASE_DIRECT_URL !== undefined)
    return `A server behind a pooler cannot use Citus. Unset DATABASE_DIRECT_URL, and ${DIRECTLY}.`;
  return config.DATABASE_REPLICA_URL === undefined
    ? undefined
    : "A server with a replica cannot use Citus. Unset DATABASE_REPLICA_URL.";
}

const DIRECTLY = "set DATABASE_URL to the address of the coordinator itself";

async function poolerProblem(url: string): Promise<string | undefined> {
  try {
    await requireDirect(url);
    return undefined;
  } catch (error) {
    if (!FROM_POOLER.test(String(error))) throw error;
    return `DATABASE_URL leads to a pooler, such as PgBouncer, which Citus cannot be used through: ${DIRECTLY}.`;
  }
}

async function problemOf(url: string): Promise<string | undefined> {
  const client = await openClient(url, "parley distribute");
  try {
    if (!(await isTrue(client, HAS_CITUS)))
      return `The database (DATABASE_URL) has no Citus. Install Citus ${MIN_VERSION} on all nodes, and run CREATE EXTENSION citus in this database on each of them. See docs/citus.md.`;
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
    return `The database (DATABASE_URL) has Citus ${version}. Version ${MIN_VERSION} or later is required: upgrade the packages on all nodes, then run ALTER EXTENSION citus UPDATE in this database on each of them.`;
  if (group !== 0) return ON_WORKER;
  if (coordinators === 0)
    return "The workers do not know the coordinator: run SELECT citus_set_coordinator_host('HOST', PORT) with the address at which they reach it.";
  return workers === 0
    ? "The cluster has no active worker: add some by SELECT citus_add_node('HOST', PORT) on the coordinator."
    : undefined;
}
