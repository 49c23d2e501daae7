import type { Knex } from "knex";
import pg from "pg";
import type { Config } from "../../settings/config";
import { limitLockWaits, type Waiting } from "./lock-waits";
import { openClient } from "../connections/open-client";
import { mistake } from "../../mistake";

/** Names of the database roles. */
export interface Roles {
  /** Migrates and owns everything. */
  readonly owner: string;
  /** Serves requests and runs the work of jobs; sees one organization at a time. */
  readonly serving: string;
  /** Manages the job queue; sees nothing else. */
  readonly jobs: string;
}

/** Tables without an organization that the serving role only reads. */
export const READ_ONLY = ["knex_migrations", "knex_migrations_lock", "templates", "holds", "online_steps"];
/** Tables without an organization that the serving role changes. */
export const SHARED = ["file_store"];
/** Tables of the workers: the serving role has no rights on them, the jobs role has all. */
export const OF_JOBS = ["sole_jobs", "begun_jobs", "worker_heartbeats", "job_deaths"];

const name = (text: string) => pg.escapeIdentifier(text);
const ALL = "select, insert, update, delete";

/** Creates a role that can only log in. */
export const creation = (role: string, password: string): string => `do $$ begin
  if not exists (select from pg_roles where rolname = ${pg.escapeLiteral(role)}) then
    create role ${name(role)} login password ${pg.escapeLiteral(password)};
  end if;
end $$`;

/** Sets the rights of both roles, whatever they were. Runs as the owner. */
export function grants({ owner, serving, jobs }: Roles): string[] {
  const [server, worker] = [name(serving), name(jobs)];
  const later = (schema: string) => `alter default privileges for role ${name(owner)} in schema ${schema}`;
  return [
    `grant usage on schema public to ${server}, ${worker}`,
    `revoke all on all tables in schema public from ${worker}`,
    `grant ${ALL} on all tables in schema public to ${server}`,
    `grant usage on all sequences in schema public to ${server}, ${worker}`,
    `${later("public")} grant ${ALL} on tables to ${server}`,
    `${later("public")} grant usage on sequences to ${server}, ${worker}`,
    `revoke insert, update, delete on ${READ_ONLY.join(", ")} from ${server}`,
    `revoke all on ${OF_JOBS.join(", ")} from ${server}`,
    `grant ${ALL} on ${OF_JOBS.join(", ")} to ${worker}`,
    `grant usage on schema graphile_worker to ${worker}`,
    `grant ${ALL} on all tables in schema graphile_worker to ${worker}`,
    `grant usage on all sequences in schema graphile_worker to ${worker}`,
    `${later("graphile_worker")} grant ${ALL} on tables to ${worker}`,
    `${later("graphile_worker")} grant usage on sequences to ${worker}`,
    jobPolicies(jobs),
  ];
}

/**
 * graphile-worker enables row-level security on its tables without a policy, so that only their owner sees jobs; this
 * adds one.
 */
const jobPolicies = (jobs: string): string => `do $$ declare one record; begin
  for one in select c.relname from pg_class c where c.relnamespace = 'graphile_worker'::regnamespace
      and c.relkind = 'r' and c.relrowsecurity
      and not exists (select from pg_policy p where p.polrelid = c.oid and p.polroles @> array[${pg.escapeLiteral(jobs)}::regrole::oid]) loop
    execute format('create policy %I on graphile_worker.%I to ${name(jobs).replaceAll("'", "''").replaceAll("%", "%%")} using (true) with check (true)',
      'of ' || ${pg.escapeLiteral(jobs)}, one.relname);
  end loop;
end $$`;

/** Grants the configured roles their rights on tables created by migrations. */
export async function keepRights(db: Knex, config: Config, waiting: Waiting): Promise<void> {
  const { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, DATABASE_JOBS_URL: jobsUrl } = config;
  if (url === undefined || ownerUrl === undefined || jobsUrl === undefined) return;
  const [serving, jobs, owner] = [url, jobsUrl, ownerUrl].map(userOf) as [string, string, string];
  if (owner === serving || owner === jobs) return;
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    "select wanted as name from unnest(?::text[]) wanted where not exists (select from pg_roles where rolname = wanted)",
    [[serving, jobs]],
  );
  if (rows.length > 0)
    throw mistake(
      new Error(
        `The database has no role ${rows.map(({ name }) => name).join(", ")}: create it with \`npm run database:roles -- --apply\`, or correct its name in DATABASE_URL or DATABASE_JOBS_URL.`,
      ),
    );
  await db.transaction(async (trx) => {
    await limitLockWaits(trx, waiting);
    for (const statement of grants({ owner, serving, jobs })) await trx.raw(statement.replaceAll("?", "\\?"));
  });
}

/** The role in a URL. */
export const userOf = (url: string | URL): string => decodeURIComponent(new URL(url).username);

/** Why a role cannot serve, under row-level security if that is set; undefined if it can. */
export async function unfitToServe(url: string, rowSecurity: boolean): Promise<string | undefined> {
  const [role] = await ask<RolePrivileges>(url, ROLE_PRIVILEGES);
  const { name, lacking } = role!;
  const what = rowSecurity ? aboveRowSecurity(role!) : undefined;
  const how =
    "`npm run database:roles` prints the required roles and settings; `-- --apply` creates the roles.";
  if (what !== undefined)
    return `ROW_LEVEL_SECURITY is set, but PostgreSQL would not enforce it: the role "${name}" of DATABASE_URL ${what}. Set DATABASE_OWNER_URL to the role that owns the tables, and DATABASE_URL to one that owns nothing. ${how}`;
  return lacking === null
    ? undefined
    : `The role "${name}" of DATABASE_URL lacks rights on ${lacking}. ${how}`;
}

/** Why row-level security does not apply to a role; undefined if it does. */
function aboveRowSecurity({ superuser, bypasses, owned }: RolePrivileges): string | undefined {
  if (superuser) return "is a superuser";
  if (bypasses) return "has BYPASSRLS";
  return owned > 0 ? `owns tables, or is a member of the role that does (${owned} tables)` : undefined;
}

/** Why a role cannot run jobs; undefined if it can. */
export async function unfitForJobs(url: string): Promise<string | undefined> {
  const [role] = await ask<{ name: string; sees: boolean }>(url, JOBS);
  return role!.sees
    ? undefined
    : `The role "${role!.name}" cannot see the jobs, so none would run. Set DATABASE_JOBS_URL to a role for jobs: \`npm run database:roles\` prints the required SQL; \`-- --apply\` runs it.`;
}

interface RolePrivileges {
  readonly name: string;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly owned: number;
  readonly lacking: string | null;
}

const ROLE_PRIVILEGES = `
  select r.rolname as name, r.rolsuper as superuser, r.rolbypassrls as bypasses,
    (select count(*)::integer from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p')
       and pg_has_role(r.oid, c.relowner, 'member')) as owned,
    (select min(c.relname) from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id')
       and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
         and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))) as lacking
  from pg_roles r where r.rolname = current_user`;

/** graphile-worker's job tables are those with row-level security. */
const JOBS = `
  select current_user as name, coalesce(bool_and(has_schema_privilege('graphile_worker', 'usage')
    and has_table_privilege(c.oid, 'update') and has_table_privilege('public.sole_jobs', 'update') and (
      not row_security_active(c.oid)
      or exists (select from pg_policy p, unnest(p.polroles) as one where p.polrelid = c.oid and (one = 0 or pg_has_role(one, 'usage')))
    )), false) as sees
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'graphile_worker' and c.relkind = 'r' and c.relrowsecurity`;

async function ask<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = await openClient(url, "parley roles");
  return (await client.query<R>(text).finally(() => client.end())).rows;
}
