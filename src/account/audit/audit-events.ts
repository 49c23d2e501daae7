import {
  connectionBy,
  CURSORS,
  endingAt,
  spanOf,
  unknownCursor,
  type Connection,
  type ConnectionQuery,
  type CursorName,
} from "../../platform/database/lists/connection";
import type { Scope } from "../../platform/database/scope";
import { conditionsOf, type AuditFilter } from "./audit-conditions";
import { AuditLog } from "./audit-log";
import type { ChainedAudit } from "./chain";
import { AUDIT_SEARCH_LIMITS, countAudit, findAudit, type AuditSearchLimits } from "./find-audit";

/** Reads the audit log. */
export class AuditEvents {
  constructor(private readonly scope: Scope) {}

  /**
   * Chains waiting entries before, so that the list contains all committed ones. A page may end early with a warning, if no
   * index finds the entries.
   * @param limits how much is searched then
   */
  async list(
    query: ConnectionQuery,
    filter: AuditFilter = {},
    limits: AuditSearchLimits = AUDIT_SEARCH_LIMITS,
  ): Promise<Connection<ChainedAudit>> {
    await this.scope.of(AuditLog).sealForRead();
    for (const name of CURSORS) if (query[name] != null) await this.checkPosition(query[name], name);
    const conditions = await conditionsOf(this.scope, filter, limits.wholeMs);
    const { rows, searchedUpTo } = await findAudit(this.scope, spanOf(query), conditions, limits);
    const found = rows.map((row) => ({ ...row, position: Number(row.position) }));
    const page = connectionBy(
      found,
      query,
      ({ position }) => String(position),
      () => countAudit(this.scope, conditions),
    );
    if (searchedUpTo !== undefined) this.tell(query, searchedUpTo);
    return endingAt(searchedUpTo?.toString(), page, query);
  }

  private tell({ last }: ConnectionQuery, position: number): void {
    this.scope.warn(
      `The list was searched only up to position ${position}, because it takes too long to find entries by these conditions. Continue with ${last == null ? "after" : "before"}: "${position}", or add a condition such as recordId.`,
    );
  }

  /** Checks a cursor, which consists of a position. @throws BAD_USER_INPUT */
  private async checkPosition(cursor: string, name: CursorName): Promise<void> {
    if (!/^\d{1,18}$/.test(cursor)) unknownCursor(cursor, name);
    const rows = this.scope.table("audit_events").select("position").where("position", ">=", cursor);
    // Sorted, because PostgreSQL would rather read the table up to the entry.
    const [reached] = await rows.orderBy("position").limit(1);
    if (!reached) unknownCursor(cursor, name);
  }
}
