import DataLoader from "dataloader";
import type { Knex } from "knex";
import { storedText } from "../json/json-source";
import type { Ports } from "../ports/ports";
import { allColumns } from "./tables/all-columns";
import { ofAssistants } from "./tables/assistant-rows";
import type { AuditedOperation } from "./tables/audited-operation";
import { runOperation } from "./run-operation";
import { lock, tryLock } from "./locks";
import type { Notes } from "./notes";
import type { AuditedStatement } from "./audited-statement";
import { encoded } from "./values/encoded";
import { noteGrowth } from "./connections/growth";
import type { AnyTable, New, RowsOf } from "./tables/rows";
import type { Client } from "./knex-client/client";
import { ifCanceled, runQuery, type QueryOptions } from "./run-query";
import { ScopeNotifications } from "./scope-notifications";
import type { Statement } from "./statement";
import type { SharedTable, TenantTable } from "./tables/tables";

/** The properties in which scopes of one request differ. */
interface Parts {
  readonly db: Knex;
  readonly operation: AuditedOperation | undefined;
  readonly assistantIds: readonly string[] | undefined;
}

type Over = Readonly<Record<"key" | "columns", string[]>>;
/** Rows per insert statement: PostgreSQL accepts 65,535 values per statement. */
const INSERT_BATCH_SIZE = 500;
/** Access to the data of one organization. Tenant tables are reached only through a scope. */
export class Scope extends ScopeNotifications {
  private readonly made = new Map<unknown, unknown>();

  constructor(
    protected readonly db: Knex,
    readonly organizationId: string,
    readonly ports: Ports,
    readonly notes: Notes = { warnings: [] },
    /** The operation to record in the audit log. */
    readonly operation?: AuditedOperation,
    /** Restricts tables with assistants to rows of these assistants. */
    readonly assistantIds?: readonly string[],
  ) {
    super();
  }

  /** The same scope for an operation that the audit log records in the transaction of its change. */
  audited(operation: AuditedOperation): Scope {
    return this.with({ operation });
  }

  /** The same scope without the restriction to assistants: for counts, never for data that a caller sees. */
  unlimited(): Scope {
    return this.assistantIds ? this.with({ assistantIds: undefined }) : this;
  }

  /** Adds a warning to return with a successful response. */
  warn(text: string): void {
    this.notes.warnings.push(text);
  }

  /** The organization's rows of a table. Add conditions with `where`, never with a top-level `orWhere`. */
  table<T extends TenantTable>(name: T): RowsOf<T> {
    const rows = this.bound(name).where(`${name}.organizationId`, this.organizationId);
    if (this.assistantIds) ofAssistants(rows, name, this.db.raw("?::text[]", [[...this.assistantIds]]));
    return rows;
  }

  /** Joins another table of the same organization; `query` must select its columns. */
  join<Q extends Knex.QueryBuilder>(query: Q, name: TenantTable, from: string, to: string): Q {
    const organization = this.db.raw("?", [this.organizationId]);
    query.join(name, (on) => on.on(from, to).andOn(`${name}.organizationId`, organization));
    return query;
  }

  /** Inserts a row into the organization. Objects and lists become JSON. */
  insert<T extends TenantTable>(name: T, row: New<T>): RowsOf<T> {
    this.operation?.inserted(name, row);
    return this.stored(name, [row]).returning("*") as RowsOf<T>;
  }

  /** Inserts many rows in batches. @param over `key`: primary key; `columns`: those that get the new values in existing rows */
  async insertAll<T extends TenantTable>(name: T, rows: readonly New<T>[], over?: Over): Promise<void> {
    for (let at = 0; at < rows.length; at += INSERT_BATCH_SIZE) {
      const insert = this.stored(name, rows.slice(at, at + INSERT_BATCH_SIZE));
      await (over ? insert.onConflict(["organizationId", ...over.key]).merge(over.columns) : insert);
    }
  }

  /** A table that is not divided by organization. */
  shared<T extends SharedTable>(name: T): RowsOf<T> {
    return this.bound(name);
  }

  /** The instance of a service for this scope, created on first use. */
  of<S>(Service: new (scope: Scope) => S): S {
    return this.once(Service, () => new Service(this));
  }

  /**
   * A loader that batches the single reads of a request into one statement; an Error in its result is thrown to the
   * reader of that id.
   */
  loader<V>(
    name: string,
    batch: (ids: readonly string[]) => Promise<readonly (V | Error)[]>,
  ): DataLoader<string, V> {
    return this.once(name, () => new DataLoader<string, V>(batch));
  }

  /** Whether the rows of organizations are on the workers of a Citus cluster. */
  get isDistributed(): boolean {
    return (this.db.client as Client).settings.isDistributed === true; // as connect makes it
  }

  /** Clears the loaders, because a change may have made their data stale. */
  forget(): void {
    this.made.clear();
  }

  /**
   * Runs `work` in a transaction, or in the one already open, and stores the audit entry with it. That of a client's
   * operation runs again after a deadlock, so `work` must change nothing outside the database.
   * @param snapshot whether all parts of a statement must see the same moment on a Citus cluster, too, or all
   *   statements of the transaction anywhere; conflicts with concurrent changes then fail with SQLSTATE 40001
   */
  async transaction<R>(
    work: (scope: Scope) => Promise<R>,
    { snapshot }: { readonly snapshot?: "statement" | "transaction" } = {},
  ): Promise<R> {
    if (this.db.isTransaction) {
      const result = await work(this);
      await this.storeAudit();
      return result;
    }
    const inside = (db: Knex) => this.with({ db }).transaction(work);
    const { settings } = this.db.client as Client; // as connect makes it
    const isKept = snapshot === "transaction" || (snapshot === "statement" && settings.isDistributed);
    const isolation = isKept ? { isolationLevel: "repeatable read" as const } : {};
    const run = () => this.db.transaction(inside, isolation);
    const result = runOperation(this.operation, this.notes, run);
    return (this.db.client as Client).noted(this.organizationId, result);
  }

  /** Stores the audit entry unless it is stored already or belongs to the operation's first event. */
  async storeAudit(): Promise<void> {
    if (this.operation?.storedWith !== "events") await this.storeEntry();
  }

  /** Stores the audit entry unless it is stored already: for a change without an event. */
  async storeEntry(): Promise<void> {
    const entry = this.operation?.entry;
    if (!entry) return;
    await this.insert("audit_outbox", { ...entry })
      .onConflict()
      .ignore(); // a concurrent statement of the operation may store it too
    this.operation?.stored();
  }

  /**
   * Runs a read statement. Reads at the same time are sent together, also those of other requests.
   * @param values values of the parameters `$(1)`, `$(2)` …; a list is one parameter, for `= any($)`
   */
  read<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<R[]> {
    return this.run(this, statement, values, { isShared: true });
  }

  /** Like `read`, for a statement that often takes more than some 20 ms: no other request waits for it. */
  readLong<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<R[]> {
    return this.run(this, statement, values);
  }

  /** Like `read`, with a time limit of its own. @returns undefined if the statement took longer */
  async readInTime<R>(ms: number, statement: Statement<R>, values: readonly unknown[]) {
    if (this.inTransaction) return this.readLong(statement, values); // a canceled statement would end it
    return this.run(this, statement, values, { timeoutMs: ms }).catch(ifCanceled);
  }

  /** Runs a write statement. It is sent separately, so that reads do not wait for the disk. */
  write<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<R[]> {
    noteGrowth(this.organizationId, values);
    const run = this.run({}, statement, values, { writes: true });
    return (this.db.client as Client).noted(this.organizationId, run);
  }

  /** Runs a write statement that also stores the audit entry of the operation, if it returns a row. */
  async change<R>(statement: AuditedStatement<R>, values: readonly unknown[]): Promise<R[]> {
    const entry = this.operation?.entry;
    if (!entry) return this.write(statement.alone, values);
    const rows = await this.write(statement.withEntry, [entry.id, storedText(entry.entry), ...values]);
    if (rows.length > 0) this.operation?.stored();
    return rows;
  }

  /**
   * Locks `name` in this organization until the transaction ends. @returns false if another transaction holds the
   * lock
   */
  async tryLock(name: string): Promise<boolean> {
    return tryLock(this.db, `${this.organizationId}:${name}`);
  }

  /** Locks `name` in this organization until the transaction ends; waits for other transactions. */
  async lock(name: string): Promise<void> {
    await lock(this.db, `${this.organizationId}:${name}`);
  }

  /** The same scope with other parts. */
  with(changes: Partial<Parts>): Scope {
    const { db, organizationId, ports, notes, operation, assistantIds } = this;
    const parts: Parts = { db, operation, assistantIds, ...changes };
    return new Scope(parts.db, organizationId, ports, notes, parts.operation, parts.assistantIds);
  }

  private async run<R>(
    caller: object,
    statement: Statement<R>,
    values: readonly unknown[],
    options: Omit<QueryOptions, "organizationId"> = {},
  ): Promise<R[]> {
    const { assistantIds, organizationId, db } = this;
    const columns = allColumns(db);
    const all = columns instanceof Promise ? await columns : columns;
    const { sql, takesAssistants } = statement.text(db, all, assistantIds !== undefined);
    const given = [organizationId, ...values, ...(takesAssistants ? [assistantIds] : [])];
    const rows = await runQuery(db, caller, sql.with(given), { organizationId, ...options });
    return rows as R[]; // the statement selects the columns of R
  }

  private stored(name: TenantTable, rows: readonly object[]): Knex.QueryBuilder {
    const { organizationId } = this;
    return this.context(this.db(name)).insert(rows.map((row) => ({ ...encoded(row), organizationId })));
  }

  private bound<T extends AnyTable>(name: T): RowsOf<T> {
    return this.context(this.db(name)) as RowsOf<T>; // a test compares the types with the database
  }

  private context(query: Knex.QueryBuilder): Knex.QueryBuilder {
    return query.queryContext({ organizationId: this.organizationId });
  }

  private once<T>(key: unknown, make: () => T): T {
    if (!this.made.has(key)) this.made.set(key, make());
    return this.made.get(key) as T; // set above
  }
}
