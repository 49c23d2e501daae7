import type { Knex } from "knex";
import type { Conditions, Filter } from "../../platform/database/lists/filtered-statement";
import { isBehindPolicies } from "../../platform/database/behind-policies";
import { unprepared, type Condition } from "../../platform/database/statement";
import type { Scope } from "../../platform/database/scope";
import { boundByTime, CREATED_AT } from "../../platform/database/lists/time-bounds";
import type { ChainedAudit } from "./chain";
import { digestsOf, type AuditActor } from "./note";

export interface AuditFilter {
  readonly kind?: ChainedAudit["kind"] | null;
  readonly actor?: AuditActor | null;
  readonly keyId?: string | null;
  /** An identifier or text of a person: finds entries by and about this person. */
  readonly person?: string | null;
  readonly address?: string | null;
  readonly operation?: string | null;
  readonly recordType?: string | null;
  readonly recordId?: string | null;
  readonly from?: Date | null;
  readonly to?: Date | null;
}

const POSITION = { name: "position", next: "position + 1" };

/** Maximum number of entries of a person that are looked up by their positions. */
const FEW = 1_000;

/** Values of the conditions of a list. */
export type AuditConditions = Filter<keyof typeof AUDIT_CONDITIONS>;

/**
 * The values of the conditions of a filter. A person with few entries becomes their positions, because no index finds
 * entries by three columns in order.
 * @param ms time to find them; 0 skips it
 */
export async function conditionsOf(
  scope: Scope,
  { person, ...others }: AuditFilter,
  ms: number,
): Promise<AuditConditions> {
  if (person == null) return others;
  const digests = digestsOf(scope, person);
  const found = ms > 0 ? await scope.readInTime(ms, POSITIONS, [digests, FEW + 1]) : undefined;
  if (!found || found.length > FEW) return { ...others, person: digests };
  return { ...others, positions: found.map(({ position }) => position) };
}

/** An entry's fields that contain one of some digests. The index has these conditions. */
const ABOUT = `jsonb_path_exists(fields, '$[*].digest') and jsonb_path_query_array(fields, '$[*].digest') \\?| ?`;

/**
 * Positions of some entries by or about a person, each found by an index. Under row-level security, PostgreSQL does not
 * use that of digests for the role, so a function of the owner finds these entries. Parameters: digests, limit.
 */
const POSITIONS = unprepared<{ readonly position: string }>(({ table, db, $ }) => {
  const digests = db.raw("?::text[]", [$(1)]);
  const positions = () => table("audit_events").select("position");
  const by = positions().whereRaw("person = any(?)", [digests]);
  const of = positions().whereRaw("record_id = any(?)", [digests]);
  const about = isBehindPolicies(db)
    ? db.raw("select parley_audited_about(?, ?) as position", [digests, $(2)])
    : positions().whereRaw(`(${ABOUT})`, [digests]);
  const query: Knex.Raw = db.raw("(? limit ?) union (? limit ?) union (? limit ?) limit ?", [
    by,
    $(2),
    of,
    $(2),
    about,
    $(2),
    $(2),
  ]);
  return query;
});

const equal =
  (column: string): Condition =>
  (rows, value) =>
    rows.where(column, value);

/** Conditions of a list of entries. */
export const AUDIT_CONDITIONS: Conditions<keyof AuditFilter | "positions"> = {
  kind: equal("kind"),
  actor: equal("actor"),
  keyId: equal("keyId"),
  address: equal("address"),
  operation: equal("operation"),
  recordType: equal("recordType"),
  recordId: equal("recordId"),
  // The value: digests.
  person: (rows, value, { db }) => {
    const digests = db.raw("?::text[]", [value]);
    return rows.whereRaw(`(person = any(?) or record_id = any(?) or (${ABOUT}))`, [
      digests,
      digests,
      digests,
    ]);
  },
  positions: (rows, value, { db }) => rows.whereRaw("position = any(?)", [db.raw("?::bigint[]", [value])]),
  from: (rows, value, { table }) => {
    boundByTime("from", rows, table("audit_events"), POSITION, value);
    rows.whereRaw(`${CREATED_AT} >= ?`, [value]);
  },
  to: (rows, value, { table }) => {
    boundByTime("to", rows, table("audit_events"), POSITION, value);
    rows.whereRaw(`${CREATED_AT} < ?`, [value]);
  },
};
