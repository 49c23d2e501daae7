import type { Conditions } from "../../platform/database/filtered-statement";
import type { Condition } from "../../platform/database/statement";
import type { Scope } from "../../platform/database/scope";
import { boundByTime, CREATED_AT } from "../../platform/database/time-bounds";
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

/** The values of the conditions of a filter. */
export const conditionsOf = (scope: Scope, { person, ...others }: AuditFilter) => ({
  ...others,
  person: person == null ? null : digestsOf(scope, person),
});

const equal =
  (column: string): Condition =>
  (rows, value) =>
    rows.where(column, value);

/** Conditions of a list of entries. */
export const AUDIT_CONDITIONS: Conditions<keyof AuditFilter> = {
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
    const fields = `array(select jsonb_build_array(jsonb_build_object('digest', digest)) from unnest(?) as digest)`;
    return rows.whereRaw(`(person = any(?) or record_id = any(?) or fields @> any(${fields}))`, [
      digests,
      digests,
      digests,
    ]);
  },
  from: (rows, value, { table }) => {
    boundByTime("from", rows, table("audit_events"), "position", value);
    rows.whereRaw(`${CREATED_AT} >= ?`, [value]);
  },
  to: (rows, value, { table }) => {
    boundByTime("to", rows, table("audit_events"), "position", value);
    rows.whereRaw(`${CREATED_AT} < ?`, [value]);
  },
};
