import type { Knex } from "knex";
import type { Span } from "../../platform/database/lists/connection";
import { FilteredStatement, type Conditions } from "../../platform/database/lists/filtered-statement";
import { inBothOrders } from "../../platform/database/lists/order";
import type { Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { statement as prepared } from "../../platform/database/statement";
import { AuditLog } from "./audit-log";
import { AUDIT_CONDITIONS, type AuditConditions } from "./audit-conditions";

type AuditRow = Rows["audit_events"];

/** Entries of a page, and the last position that was searched if the search ended before the end of the list. */
export interface FoundAudit {
  readonly rows: readonly AuditRow[];
  readonly searchedUpTo?: number;
}

/** Positions outside of which nothing is searched. */
interface Bounds {
  readonly above: number;
  readonly below: number;
}

const BOUNDS: Conditions<keyof Bounds> = {
  above: (rows, value) => rows.where("position", ">", value),
  below: (rows, value) => rows.where("position", "<", value),
};

/** Planned for each run: how many entries a value has decides by which index they are found. Parameter: limit. */
const FOUND = inBothOrders(
  (order) =>
    new FilteredStatement<AuditRow, keyof typeof AUDIT_CONDITIONS | keyof Bounds>(
      { ...AUDIT_CONDITIONS, ...BOUNDS },
      ({ table, narrowed, db, $ }) => {
        const query: Knex.Raw = db.raw("? limit ?", [
          narrowed(table("audit_events")).orderBy("position", order),
          $(1),
        ]);
        return query;
      },
      false,
    ),
);

const COUNT = new FilteredStatement<{ readonly count: string }, keyof typeof AUDIT_CONDITIONS>(
  AUDIT_CONDITIONS,
  ({ table, narrowed }) => narrowed(table("audit_events")).count("*"),
  false,
);

/** Positions have no gaps. */
const COUNT_ALL = prepared<{ readonly count: string }>(({ table, db }) =>
  table("audit_events").select(db.raw("coalesce(max(position) - min(position) + 1, 0) as count")),
);

/** How much is searched. */
export interface AuditSearchLimits {
  /** Time for a statement that reads the whole list, in ms; 0 skips it. */
  readonly wholeMs: number;
  /** If it takes longer, as for rare values without an index, parts of so many entries are read. */
  readonly part: number;
  /** No part is begun after this time, in ms. */
  readonly partsMs: number;
}
export const AUDIT_SEARCH_LIMITS: AuditSearchLimits = { wholeMs: 1_000, part: 50_000, partsMs: 1_000 };

/** The number of entries that match the conditions. */
export async function countAudit(scope: Scope, conditions: AuditConditions): Promise<number> {
  const { statement, values } = COUNT.by(conditions);
  const [total] = await (values.length === 0 ? scope.read(COUNT_ALL) : scope.readLong(statement, values));
  return Number(total?.count);
}

/** Entries that match the conditions, by position, with one more than the page holds. Ends early if nothing finds them in time. */
export async function findAudit(
  scope: Scope,
  span: Span,
  conditions: AuditConditions,
  { wholeMs, part: size, partsMs }: AuditSearchLimits,
): Promise<FoundAudit> {
  const { take, order } = span;
  const read = (bounds: Partial<Bounds>, most: number) => {
    const { statement, values } = FOUND[order].by({ ...conditions, ...bounds });
    return [statement, [most, ...values]] as const;
  };
  const bounds = boundsOf(span);
  const whole = wholeMs > 0 && (await scope.readInTime(wholeMs, ...read(bounds, take + 1)));
  if (whole) return { rows: whole };

  const head = await scope.of(AuditLog).head();
  const rows: AuditRow[] = [];
  const { above = 0, below = head.position + 1 } = bounds;
  const until = performance.now() + partsMs;
  for (let searched = 0; ; searched += size) {
    const part =
      order === "desc"
        ? { above: Math.max(above, below - searched - size - 1), below: below - searched }
        : { above: above + searched, below: Math.min(below, above + searched + size + 1) };
    rows.push(...(await scope.readLong(...read(part, take + 1 - rows.length))));
    const isLast = order === "desc" ? part.above <= above : part.below >= below;
    if (rows.length > take || isLast) return { rows };
    if (performance.now() < until) continue;
    return { rows, searchedUpTo: order === "desc" ? part.above + 1 : part.below - 1 };
  }
}

function boundsOf({ order, after, before }: Span): Partial<Bounds> {
  const [above, below] = order === "desc" ? [before, after] : [after, before];
  return { ...(above !== null && { above: Number(above) }), ...(below !== null && { below: Number(below) }) };
}
