import type pg from "pg";

const SETTING = "current_setting('parley.organization_id'::text, true)";

/** Policies that compare the organization by `=`, of tables with rows on other nodes. */
const POLICIES = `
  select format('alter policy %I on %s', p.polname, p.polrelid::regclass) as policy,
    format('(%I is not distinct from %s)', a.attname, $1::text) as condition
  from pg_policy p join pg_dist_partition d on d.logicalrelid = p.polrelid
  join pg_attribute a on a.attrelid = p.polrelid
    and pg_get_expr(p.polqual, p.polrelid) = format('(%I = %s)', a.attname, $1::text)`;

/**
 * Writes policies so that the planner derives nothing from them. From `organization_id = $1` and the same with a setting
 * it derives that both are equal, a condition without columns, which Citus refuses beside outer joins.
 */
export async function fitPolicies(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ policy: string; condition: string }>(POLICIES, [SETTING]);
  for (const { policy, condition } of rows)
    await client.query(`${policy} using ${condition} with check ${condition}`);
}
