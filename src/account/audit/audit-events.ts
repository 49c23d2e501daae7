import {
  connectionBy,
  CURSORS,
  countOf,
  spanned,
  spanOf,
  unknownCursor,
  type Connection,
  type ConnectionQuery,
  type CursorName,
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

  /** Chains waiting entries before, so that the list contains all committed ones. */
  async list(query: ConnectionQuery, filter: AuditFilter = {}): Promise<Connection<ChainedAudit>> {
    const span = spanOf(query);
    await this.scope.of(AuditLog).sealForRead();
    for (const name of CURSORS) if (query[name] != null) await this.checkPosition(query[name], name);
    const placeOf = (position: string) => ({ sql: "?", values: [position] });
    const rows = await spanned(this.matching(filter), span, ["position"], placeOf);
    const found = rows.map((row) => ({ ...row, position: Number(row.position) }));
    return connectionBy(
      found,
      query,
      ({ position }) => String(position),
      () => countOf(this.matching(filter)),
    );
  }

  private matching({ from, to, person, ...equal }: AuditFilter): RowsOf<"audit_events"> {
    const rows = this.scope.table("audit_events");
    for (const [name, value] of Object.entries(equal)) if (value != null) rows.where(name, value);
    if (from != null) rows.where("createdAt", ">=", from);
    if (to != null) rows.where("createdAt", "<", to);
    if (person != null) this.about(rows, person);
    return rows;
  }

  /** Checks a cursor, which consists of a position. @throws BAD_USER_INPUT */
  private async checkPosition(cursor: string, name: CursorName): Promise<void> {
    if (!/^\d{1,18}$/.test(cursor)) unknownCursor(cursor, name);
    const rows = this.scope.table("audit_events").select("position").where("position", ">=", cursor);
    const [reached] = await rows.limit(1);
    if (!reached) unknownCursor(cursor, name);
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
