import type { Snapshot } from "../platform/database/copies/snapshot";

/** Name of the fact that lists the erased end users as keyed digests. */
export const ERASURES = "erasures";

/** Facts in a manifest, by name: the rows of a query. A fact is omitted if the database lacks its table. */
const FACTS: Readonly<Record<string, { readonly table: string; readonly query: string }>> = {
  organizations: {
    table: "organizations",
    query: "select count(*)::integer as count from public.organizations",
  },
  auditHeads: {
    table: "audit_heads",
    query: "select organization_id, position::text, hash from public.audit_heads order by organization_id",
  },
  [ERASURES]: {
    table: "erasures",
    query: `select e.organization_id as "organizationId", e.subject, e.digest, o.sealed_erasure_key as "sealedKey",
      e.until::text as until
      from public.erasures e join public.organizations o on o.id = e.organization_id
      where e.digest is not null order by e.organization_id, e.id`,
  },
};

export async function factsOf(snapshot: Snapshot): Promise<Record<string, unknown>> {
  const facts: Record<string, unknown> = {};
  for (const [name, { table, query }] of Object.entries(FACTS))
    if (snapshot.shape.tables.some((one) => one.name === table)) facts[name] = await snapshot.rows(query);
  return facts;
}
