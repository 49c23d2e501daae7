import { JOBS_TABLE } from "../support/jobs";
import type { TestDatabase } from "../support/database";
import type { Bijection } from "./bijection";

/** Rows that a case added or changed, by table, and how many rows each table has. */
export type Effects = Readonly<Record<string, { readonly count: number; readonly rows: readonly object[] }>>;

/**
 * Tables that servers change by themselves, at their own times: sizes that they measure, and the chains into which they
 * put entries of the audit log and events. The audit log is compared as a whole at the end.
 */
const OWN = [
  ...["servers", "stored_sizes", "knex_migrations", "knex_migrations_lock"],
  ...["audit_events", "audit_heads", "ledger_heads"],
];
/** Their rows move or change later, so only new rows count. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  audit_outbox: [],
  events: ["transaction"],
  jobs: ["id", "job_queue_id"],
};

/** Columns that servers write at their own times: they are left out, with rows in which only these change. */
const WHEN_USED: Readonly<Record<string, readonly string[]>> = { api_keys: ["last_used_at"] };

type Row = Readonly<Record<string, unknown>>;

const without = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));

/** Reads what requests change in a database: all tables, those of events, deliveries and the audit log too. */
export class Changes {
  private mark = "0";
  private statement = "";
  private readonly seen = new Set<unknown>();
  /** The last content of rows without the columns that servers write at their own times, by table and id. */
  private readonly known = new Map<string, string>();

  constructor(private readonly database: TestDatabase) {}

  /** Begins to look: changes from now on count. */
  async begin(): Promise<void> {
    const tables = await this.database.query<{ schema: string; name: string }>(
      `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where (n.nspname = 'public' or c.relname = '${JOBS_TABLE}') and c.relkind = 'r' order by 2`,
    );
    this.statement = tables
      .filter(({ name }) => !OWN.includes(name))
      .map(
        ({ schema, name }) =>
          `select '${name === JOBS_TABLE ? "jobs" : name}' as name, (select count(*)::int from "${schema}"."${name}") as count,
           (select coalesce(json_agg(to_jsonb(t)), '[]') from "${schema}"."${name}" t where t.xmin::text::bigint >= $1) as rows`,
      )
      .join(" union all ");
    await this.next();
  }

  private async setMark(): Promise<void> {
    const [row] = await this.database.query<{ mark: string }>(
      "select pg_snapshot_xmax(pg_current_snapshot())::text as mark",
    );
    this.mark = row!.mark;
  }

  /** The changes since the last call. */
  async next(): Promise<Effects> {
    const tables = await this.database.query<{ name: string; count: number; rows: Row[] }>(this.statement, [
      this.mark,
    ]);
    await this.setMark();
    return Object.fromEntries(
      tables.map(({ name, count, rows }) => [
        name,
        LATER[name] ? this.added(name, rows) : { count, rows: this.changed(name, rows) },
      ]),
    );
  }

  private added(table: string, all: readonly Row[]) {
    const rows = all.filter(({ id }) => !this.seen.has(id));
    for (const { id } of rows) this.seen.add(id);
    return { count: 0, rows: rows.map((row) => without(row, LATER[table]!)) };
  }

  private changed(table: string, rows: readonly Row[]): readonly Row[] {
    const columns = WHEN_USED[table];
    if (!columns) return rows;
    return rows
      .map((row) => without(row, columns))
      .filter((row) => {
        const key = `${table} ${String(row.id)}`;
        const [before, now] = [this.known.get(key), JSON.stringify(row)];
        this.known.set(key, now);
        return before !== now;
      });
  }
}

/** The tables with changed rows. */
export const changedTables = (effects: Effects): string[] =>
  Object.entries(effects)
    .filter(([, { rows }]) => rows.length > 0)
    .map(([name]) => name);

/** Differences of the changes in two databases. Rows of a table have no order, so they are sorted alike. @param interfaces names in audit entries */
export function effectDifferences(
  left: Effects,
  right: Effects,
  bijection: Bijection,
  interfaces: readonly [string, string] = ["", ""],
): string[] {
  return Object.keys(left).flatMap((table) => {
    const [first, second] = [left[table]!, right[table]!];
    // Audit entries name the interface.
    const named = (rows: readonly object[], name: string) =>
      JSON.parse(
        JSON.stringify(rows).replaceAll(`"interface":"${name}"`, `"interface":"as called"`),
      ) as object[];
    const sorted = (rows: readonly object[], side: "left" | "right") =>
      rows
        .map((row) => ({ row, key: bijection.sortKey(row, side) }))
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
        .map(({ row }) => row);
    return bijection.differences(
      { count: first.count, rows: sorted(named(first.rows, interfaces[0]), "left") },
      { count: second.count, rows: sorted(named(second.rows, interfaces[1]), "right") },
      table,
    );
  });
}
