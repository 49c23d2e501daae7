import DataLoader from "dataloader";
import type { Knex } from "knex";
import type { Ports } from "../ports/ports";
import { allColumns } from "./all-columns";
import { ofAssistants } from "./assistant-rows";
import type { AuditedOperation } from "./audited-operation";
import { TRIES, type JobOptions } from "./job-options";
import { encoded } from "./encoded";
import { Expressions } from "./expressions";
import { noteGrowth } from "./growth";
import type { AnyTable, New, RowsOf } from "./rows";
import { runQuery } from "./run-query";
import type { Statement } from "./statement";
import type { SharedTable, TenantTable } from "./tables";

export { TRIES };

/** Parts of a scope in which scopes of one request differ. */
interface Parts {
  readonly db: Knex;
  readonly operation: AuditedOperation | undefined;
  readonly assistantIds: readonly string[] | undefined;
}

/** Of one statement: PostgreSQL takes 65,535 values. */
const MOST_ROWS = 500;
/** Everything bound to one organization. Tenant tables are reached through it or not at all. */
export class Scope extends Expressions {
  private readonly made = new Map<unknown, unknown>();

  constructor(
    protected readonly db: Knex,
    readonly organizationId: string,
    readonly ports: Ports,
    /** What the caller should know of a request that went well. */
    readonly warnings: string[] = [],
    /** The operation to record in the audit log. */
    readonly operation?: AuditedOperation,
    /** Only rows of these assistants are found, where a table's rows belong to assistants. */
    readonly assistantIds?: readonly string[],
  ) {
    super();
  }

  /** The same scope on behalf of an operation that the audit log records in the transaction of its change. */
  audited(operation: AuditedOperation): Scope {
    return this.with({ operation });
  }

  /** The same scope with all rows of the organization: for counts, never for what a caller is shown. */
  unlimited(): Scope {
    return this.assistantIds ? this.with({ assistantIds: undefined }) : this;
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /** The organization's rows of a table. Add to the condition with `where`; never with a top-level `orWhere`. */
  table<T extends TenantTable>(name: T): RowsOf<T> {
    const rows = this.bound(name).where(`${name}.organizationId`, this.organizationId);
    if (this.assistantIds) ofAssistants(rows, name, this.db.raw("?::text[]", [[...this.assistantIds]]));
    return rows;
  }

  /** Rows of another tenant table of the same organization beside those of `query`, which must name its columns. */
  join<Q extends Knex.QueryBuilder>(query: Q, name: TenantTable, from: string, to: string): Q {
    const organization = this.db.raw("?", [this.organizationId]);
    query.join(name, (on) => on.on(from, to).andOn(`${name}.organizationId`, organization));
    return query;
  }

  /** Inserts into the organization. Objects and lists become JSON. */
  insert<T extends TenantTable>(name: T, row: New<T>): RowsOf<T> {
    this.operation?.inserted(name, row);
    return this.stored(name, [row]).returning("*") as RowsOf<T>;
  }

  /** Inserts many rows, some hundreds by each statement. */
  async insertAll<T extends TenantTable>(name: T, rows: readonly New<T>[]): Promise<void> {
    for (let at = 0; at < rows.length; at += MOST_ROWS)
      await this.stored(name, rows.slice(at, at + MOST_ROWS));
  }

  /** What a job or a notification is told, with the organization that it is of. */
  owned<V extends object>(values: V): V & { readonly organizationId: string } {
    return { organizationId: this.organizationId, ...values };
  }

  /** Enqueues a job that runs when this transaction has committed; jobs of one `queue` run one after another. */
  async enqueue(
    task: string,
    payload: Readonly<Record<string, unknown>>,
    { queue, runAt, key, tries = TRIES }: JobOptions = {},
  ): Promise<void> {
    await this.db.raw("select parley_enqueue(?, ?::json, ?, ?, ?, ?)", [
      task,
      JSON.stringify(this.owned(payload)),
      queue ?? null,
      runAt ?? null,
      key ?? null,
      tries,
    ]);
  }

  /** A table that belongs to no organization. */
  shared<T extends SharedTable>(name: T): RowsOf<T> {
    return this.bound(name);
  }

  /** The service of this scope: made once, on first use. */
  of<S>(Service: new (scope: Scope) => S): S {
    return this.once(Service, () => new Service(this));
  }

  /** A loader that turns the single reads of one request into one statement; an Error is thrown where its id was asked for. */
  loader<V>(
    name: string,
    batch: (ids: readonly string[]) => Promise<readonly (V | Error)[]>,
  ): DataLoader<string, V> {
    return this.once(name, () => new DataLoader<string, V>(batch));
  }

  /** Drops what loaders have read, as a change may have made it old. */
  forget(): void {
    this.made.clear();
  }

  /** Whether a transaction is open, which may hold locks. */
  get inTransaction(): boolean {
    return this.db.isTransaction === true;
  }

  /** Runs `work` in a transaction, or in the one that is open already. The audit entry of the operation is stored with it. */
  async transaction<R>(work: (scope: Scope) => Promise<R>): Promise<R> {
    if (this.db.isTransaction) {
      const result = await work(this);
      await this.storeAudit();
      return result;
    }
    const inside = (db: Knex) => this.with({ db }).transaction(work);
    return this.db.transaction(inside).catch((error: unknown) => {
      this.operation?.rolledBack();
      throw error;
    });
  }

  /** Stores the audit entry of the operation unless that has been done or its first event does it. */
  async storeAudit(): Promise<void> {
    if (this.operation?.storedWith !== "events") await this.storeEntry();
  }

  /** Stores the audit entry of the operation unless that has been done: for a change that no event tells of. */
  async storeEntry(): Promise<void> {
    const entry = this.operation?.entry;
    if (!entry) return;
    await this.insert("audit_outbox", { ...entry })
      .onConflict()
      .ignore(); // another statement of the operation may be storing it at once
    this.operation?.stored();
  }

  /**
   * Runs a statement that reads. Those that a scope asks for at once go out together.
   * @param values fill the places `$(1)`, `$(2)` …; a list fills one place of `= any($)`
   */
  read<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<R[]> {
    return this.run(this, statement, values);
  }

  /** Runs a statement that writes. It goes out by itself: reads beside it need not wait for the disk. */
  write<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<R[]> {
    noteGrowth(this.organizationId, values);
    return this.run({}, statement, values);
  }

  /** One transaction at a time for `name` in this organization, until the transaction ends; false when another holds it. */
  async tryLock(name: string): Promise<boolean> {
    const { rows } = await this.db.raw<{ rows: { locked: boolean }[] }>(
      "select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as locked",
      [this.lockKey(name)],
    );
    return rows[0]?.locked === true;
  }

  /** Waits until no other transaction holds `name` in this organization, and holds it until this one ends. */
  async lock(name: string): Promise<void> {
    await this.db.raw("select pg_advisory_xact_lock(hashtextextended(?, 0))", [this.lockKey(name)]);
  }

  /** Tells every server process, when this transaction commits. Carries ids, never rows (the limit is 8 kB). */
  async notify(channel: string, ids: Readonly<Record<string, string>>): Promise<void> {
    await this.db.raw("select pg_notify(?, ?)", [channel, JSON.stringify(this.owned(ids))]);
  }

  private with(changes: Partial<Parts>): Scope {
    const { db, organizationId, ports, warnings, operation, assistantIds } = this;
    const parts: Parts = { db, operation, assistantIds, ...changes };
    return new Scope(parts.db, organizationId, ports, warnings, parts.operation, parts.assistantIds);
  }

  private readonly lockKey = (name: string): string => `${this.organizationId}:${name}`;

  private async run<R>(caller: object, statement: Statement<R>, values: readonly unknown[]): Promise<R[]> {
    const { assistantIds, organizationId, db } = this;
    const columns = allColumns(db);
    const all = columns instanceof Promise ? await columns : columns;
    const { sql, takesAssistants } = statement.text(db, all, assistantIds !== undefined);
    const given = [organizationId, ...values, ...(takesAssistants ? [assistantIds] : [])];
    const rows = await runQuery(db, caller, sql.with(given), organizationId);
    return rows as R[]; // the columns that the statement selects
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
    return this.made.get(key) as T; // stored under this key by the line above
  }
}
