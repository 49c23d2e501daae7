import {
  connectionBy,
  unknownCursor,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/connection";
import type { RowsOf } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import { AuditLog } from "./audit-log";
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

/** Reads the audit log. */
export class AuditEvents {
  constructor(private readonly scope: Scope) {}

  /** Newest first. Chains waiting entries before, so that the list contains all committed ones. */
  async list({ first, after }: ConnectionQuery, filter: AuditFilter = {}): Promise<Connection<ChainedAudit>> {
    await this.scope.of(AuditLog).sealForRead();
    const take = first ?? 20;
    const { from, to, person, ...equal } = filter;
    const rows = this.scope.table("audit_events").orderBy("position", "desc");
    if (after != null) rows.where("position", "<", await this.positionOf(after));
    for (const [name, value] of Object.entries(equal)) if (value != null) rows.where(name, value);
    if (from != null) rows.where("createdAt", ">=", from);
    if (to != null) rows.where("createdAt", "<", to);
    if (person != null) this.about(rows, person);
    const found = (await rows.limit(take + 1)).map((row) => ({
      ...row,
      position: Number(row.position),
    }));
    return connectionBy(found, { first, after }, ({ position }) => String(position));
  }

  /** The position that a cursor consists of. @throws BAD_USER_INPUT */
  private async positionOf(after: string): Promise<string> {
    if (!/^\d{1,18}$/.test(after)) return unknownCursor(after);
    const [reached] = await this.scope
      .table("audit_events")
      .select("position")
      .where("position", ">=", after)
      .limit(1);
    return reached ? after : unknownCursor(after);
  }

  private about(rows: RowsOf<"audit_events">, person: string): void {
    const digests = digestsOf(this.scope, person);
    const fields = digests.map((digest) => JSON.stringify([{ digest }]));
    rows.where((any) => {
      any.whereIn("person", digests).orWhereIn("recordId", digests);
      any.orWhereRaw("fields @> any(?::jsonb[])", [fields]);
    });
  }
}
