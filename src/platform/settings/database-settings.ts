import { flag, url, whole } from "./setting-kinds";

/** The settings of the database, in the order in which they are listed. */
export const DATABASE_SETTINGS = {
  DATABASE_URL: [
    url("postgres:", "postgresql:").optional(),
    "unset: embedded PostgreSQL",
    "PostgreSQL 15 or later to use instead of the embedded one.",
  ],
  DATABASE_OWNER_URL: [
    url("postgres:", "postgresql:").optional(),
    "that of `DATABASE_URL`",
    "The same database as the role that owns the tables and migrates them; commands use it too.",
  ],
  DATABASE_JOBS_URL: [
    url("postgres:", "postgresql:").optional(),
    "that of `DATABASE_URL`",
    "The same database as the role that takes jobs and sees nothing else.",
  ],
  DATABASE_POOL: [
    whole(1, 500).default(10),
    "`10`",
    "Most connections that one process opens for requests, and as many again for its jobs.",
  ],
  ROW_LEVEL_SECURITY: [
    flag.default(false),
    "`false`",
    "Set the organization before every statement, and start only if PostgreSQL then hides all others from the role of `DATABASE_URL` (a second line of defense; reads cost about a third more). `npm run database:roles` makes the roles.",
  ],
} as const;
