import { databaseUrl, flag, whole } from "./setting-kinds";

/** The settings of the database, in the order in which they are listed. */
export const DATABASE_SETTINGS = {
  DATABASE_URL: [
    databaseUrl.optional(),
    "unset: embedded PostgreSQL",
    "URL of a PostgreSQL 15 or later to use instead of the embedded one.",
  ],
  DATABASE_DIRECT_URL: [
    databaseUrl.optional(),
    "the value of `DATABASE_URL`",
    "URL of the same database past a pooler, if `DATABASE_URL` leads to PgBouncer in transaction mode. Notifications, jobs and migrations use it; see [PgBouncer](operations.md#pgbouncer).",
  ],
  DATABASE_PREPARE: [
    flag.default(true),
    "`on`",
    "`off` if a pooler does not know prepared statements: PgBouncer before 1.21, or without `max_prepared_statements`.",
  ],
  DATABASE_OWNER_URL: [
    databaseUrl.optional(),
    "the value of `DATABASE_DIRECT_URL`",
    "URL of the same database for the role that owns and migrates the tables; commands use it too.",
  ],
  DATABASE_JOBS_URL: [
    databaseUrl.optional(),
    "the value of `DATABASE_DIRECT_URL`",
    "URL of the same database for the role that takes jobs and sees nothing else.",
  ],
  DATABASE_REPLICA_URL: [
    databaseUrl.optional(),
    "unset: no replica",
    "URL of a streaming replica of the database. Lists, logs and analytics are read there once it has what their organization has written; see [Read replica](operations.md#read-replica).",
  ],
  DATABASE_POOL: [
    whole(1, 500).default(10),
    "`10`",
    "Maximum number of connections per process for requests; jobs get as many again.",
  ],
  ROW_LEVEL_SECURITY: [
    flag.default(false),
    "`false`",
    "Sets the organization for every statement and starts only if PostgreSQL hides all other organizations from the role of `DATABASE_URL`. A second line of defense; reads cost about a third more. `npm run database:roles` creates the roles.",
  ],
} as const;
