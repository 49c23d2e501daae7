import type { Knex } from "knex";
import type { Ports } from "../ports/ports";
import { currentHold, type Hold } from "./connections/holds";
import { health } from "./connections/read-only";
import { busiestOrganizations, readings, type Readings } from "./readings";
import { Scope } from "./scope";
import { isRecorded } from "./migrations/online-step";
import { servesWithout } from "./upgrades/server-marks";

/** The open database: creates scopes, and runs the few queries that span organizations. */
export class Database {
  /** Online steps that are known to be done, which they stay. */
  private readonly done = new Set<string>();

  constructor(
    private readonly knex: Knex,
    private readonly ports: Ports,
  ) {}

  /** Runs work on several organizations in one transaction. */
  transaction<R>(work: (database: Database, trx: Knex) => Promise<R>): Promise<R> {
    return this.knex.transaction((trx) => work(new Database(trx, this.ports), trx));
  }

  /** Creates a scope. @param assistantIds restricts it to rows of these assistants */
  scope(organizationId: string, assistantIds?: readonly string[]): Scope {
    return new Scope(this.knex, organizationId, this.ports, undefined, undefined, assistantIds);
  }

  /** Id of the default organization; undefined before it is created. */
  async defaultOrganizationId(): Promise<string | undefined> {
    const [row] = await this.rowsOf<{ parleyDefaultOrganization: string | null }>(
      "parley_default_organization()",
    );
    return row?.parleyDefaultOrganization ?? undefined;
  }

  /** Finds the owner of a key by its lookup digests. */
  async ownerOfKey(lookups: readonly string[]): Promise<OwnedRecord<"keyId"> | undefined> {
    const [found] = await this.rowsOf<OwnedRecord<"keyId">>("parley_owner_of_key(?)", [[...lookups]]);
    return found;
  }

  /** Finds the owner of a call by any of its lookup keys. */
  async ownerOfCall(lookups: readonly string[]): Promise<OwnedRecord<"chatId"> | undefined> {
    const [found] = await this.rowsOf<OwnedRecord<"chatId">>("parley_owner_of_call(?)", [[...lookups]]);
    return found;
  }

  /** Finds the owners of phone numbers; undefined for numbers that are not connected. */
  async ownersOfNumbers(...phoneNumbers: string[]): Promise<(NumberOwner | undefined)[]> {
    const rows = await this.rowsOf<NumberOwner>("parley_owners_of_numbers(?)", [phoneNumbers]);
    return phoneNumbers.map((number) => rows.find(({ phoneNumber }) => phoneNumber === number));
  }

  /** Destinations of all organizations with queues of deliveries that are due. */
  dueDestinations(): Promise<OwnedRecord<"destinationId">[]> {
    return this.rowsOf("parley_due_queues()");
  }

  /**
   * Adds the queues of pending deliveries that servers of older versions have stored, which know no queues. Looks at
   * the next `most` pending deliveries of all organizations.
   * @param after the delivery reached by the last call
   * @returns the last delivery, and how many queues were added or became due earlier; undefined at the end
   */
  async repairQueues(after: PendingDelivery | undefined, most: number): Promise<RepairedQueues | undefined> {
    const { organizationId = "", destinationId = "", eventId = "", deliveryId = "" } = after ?? {};
    const values = [organizationId, destinationId, eventId, deliveryId, most];
    const [row] = await this.rowsOf<RepairedQueues>("parley_repair_queues(?, ?, ?, ?, ?)", values);
    return row;
  }

  /** Chats of all organizations without a message for this long (`isIdle`), or that are due for a check; at most 500. */
  quietChats(minutes: number): Promise<(OwnedRecord<"chatId"> & { readonly isIdle: boolean })[]> {
    return this.rowsOf("parley_quiet_chats(now() - ? * interval '1 minute')", [minutes]);
  }

  /** Organizations with events that have no position in their ledger yet. */
  unplacedEvents(): Promise<string[]> {
    return this.organizationsOf("parley_unplaced_events()");
  }

  /** Organizations with records of texts older than this. */
  expiredTexts(days: number): Promise<string[]> {
    return this.organizationsOf("parley_expired_texts(now() - ? * interval '1 day')", [days]);
  }

  /** Stores the facts of at most `most` ended chats; until then, each read computes them. @returns the number of chats */
  async keepFacts(most: number): Promise<number> {
    const [row] = await this.rowsOf<{ parleyKeepFacts: number }>("parley_keep_facts(?)", [most]);
    return row?.parleyKeepFacts ?? 0;
  }

  /** Measures again at most `most` chats whose facts were stored by earlier rules. @returns whether any are left */
  async recountFacts(most: number): Promise<boolean> {
    const [row] = await this.rowsOf<{ parleyRecountFacts: number }>("parley_recount_facts(?)", [most]);
    return (row?.parleyRecountFacts ?? 0) > 0;
  }

  /** Organizations with live chats that have changed since they were measured, or with measures of ended ones. */
  organizationsToMeasure(): Promise<string[]> {
    return this.organizationsOf("parley_unmeasured_chats()");
  }

  /** Whether a server of a version without sums of facts is connected. */
  servesWithoutSums(): Promise<boolean> {
    return servesWithout(this.knex, "sums");
  }

  /** Organizations with facts that are in no sum yet. */
  unsummedOrganizations(): Promise<string[]> {
    return this.organizationsOf("parley_unsummed_organizations()");
  }

  /** Whether an online step that is no index is done. */
  async isStepDone(name: string): Promise<boolean> {
    if (!this.done.has(name) && (await isRecorded(this.knex, name))) this.done.add(name);
    return this.done.has(name);
  }

  /** At most `most` assistants without versions. If there are none, the online step `first_versions` is done. */
  unversionedAssistants(most: number): Promise<{ organizationId: string; assistantId: string }[]> {
    return this.rowsOf("parley_unversioned_assistants(?)", [most]);
  }

  /** Organizations with logs that are in no block yet. */
  uncountedOrganizations(): Promise<string[]> {
    return this.organizationsOf("parley_uncounted_organizations()");
  }

  /** Organizations with deliveries that are older than this and in no sum yet. */
  uncountedDeliveries(minutes: number): Promise<string[]> {
    return this.organizationsOf("parley_uncounted_deliveries(now() - ? * interval '1 minute')", [minutes]);
  }

  /** Organizations with audit entries that are not numbered yet; at most 1,000. */
  auditWaiting(): Promise<string[]> {
    return this.organizationsOf("parley_audit_waiting()");
  }

  /** The name of the installation's file store, once a server has claimed one. */
  async fileStore(): Promise<string | undefined> {
    const [row] = await this.knex<{ id: string }>("file_store").select("id");
    return row?.id;
  }

  /** Stores the id of the file store unless there is one. @returns the stored id */
  async claimFileStore(id: string): Promise<string> {
    await this.knex("file_store").insert({ id }).onConflict("one").ignore();
    return (await this.fileStore())!;
  }

  async replaceFileStore(id: string): Promise<void> {
    await this.knex("file_store").insert({ id }).onConflict("one").merge(["id"]);
  }

  /** Number of servers that are running on this database. */
  async runningServers(): Promise<number> {
    const { rows } = await this.knex.raw<{ rows: { count: number }[] }>(
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and application_name like 'parley listener%'`,
    );
    return rows[0]!.count;
  }

  /** The hold that keeps jobs waiting; undefined if there is none. */
  hold(): Promise<Hold | undefined> {
    return currentHold(this.knex);
  }

  /** Figures for the metrics: jobs, deliveries, events and live conversations of all organizations. */
  readonly readings = (): Promise<Readings> => readings(this.knex);

  /** The organizations with the most events lately, with the number per second. */
  readonly busiestOrganizations = (most: number) => busiestOrganizations(this.knex, most);

  /** Whether the database answers and accepts writes, which standbys and databases on a full disk do not. */
  readonly health = (): Promise<"ok" | "read-only"> => health(this.knex);

  /** The database's current time, in ms precision. */
  async time(): Promise<Date> {
    const { rows } = await this.knex.raw<{ rows: { now: Date }[] }>("select clock_timestamp() as now");
    return rows[0]!.now;
  }

  /** Ids of all organizations, even for a role that sees one at a time. */
  everyOrganization(): Promise<string[]> {
    return this.organizationsOf("parley_organizations()");
  }

  /** Tables whose primary key starts with the organization. */
  async tenantTables(): Promise<string[]> {
    const { rows } = await this.knex.raw<{ rows: { name: string }[] }>(`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indkey[0] = a.attnum
      where c.relnamespace = 'public'::regnamespace order by c.relname`);
    return rows.map(({ name }) => name);
  }

  /** Organizations whose stored bytes are due for measuring; those above `large` bytes are measured more often. */
  unmeasured(large: number): Promise<string[]> {
    return this.organizationsOf("parley_unmeasured(?)", [large]);
  }

  /** Unfinished erasures of all organizations without progress for this long. */
  unfinishedErasures(silenceSeconds: number): Promise<OwnedRecord<"erasureId">[]> {
    return this.rowsOf("parley_unfinished_erasures(? * interval '1 second')", [silenceSeconds]);
  }

  /** Exports of all organizations with expired archives. */
  expiredExports(): Promise<OwnedRecord<"exportId">[]> {
    return this.rowsOf("parley_expired_exports()");
  }

  async close(): Promise<void> {
    await this.knex.destroy();
  }

  /** Organization ids that a database function returns. */
  private async organizationsOf(call: string, values: readonly Knex.RawBinding[] = []): Promise<string[]> {
    const rows = await this.rowsOf<OwnedRecord<never>>(call, values);
    return rows.map(({ organizationId }) => organizationId);
  }

  /** Rows that a database function returns; R lists the columns declared by its migration. */
  private async rowsOf<R>(call: string, values: readonly Knex.RawBinding[] = []): Promise<R[]> {
    const rows: unknown = await this.knex.select("*").from(this.knex.raw(call, values));
    return rows as R[]; // unlike the columns of tables, these are not compared with the database
  }
}

/** Id of a record with that of its organization. */
export type OwnedRecord<K extends string> = Readonly<Record<"organizationId" | K, string>>;

/** A pending delivery, as its place in the order in which queues are repaired. */
export type PendingDelivery = OwnedRecord<"destinationId" | "eventId" | "deliveryId">;

type RepairedQueues = PendingDelivery & { readonly repaired: number };

/** The owner of a connected phone number. */
interface NumberOwner {
  readonly phoneNumber: string;
  readonly organizationId: string;
  readonly connectionId: string;
}
