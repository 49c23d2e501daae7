import type { Knex } from "knex";
import type { Ports } from "../ports/ports";
import { currentHold, type Hold } from "./holds";
import { Scope } from "./scope";

/** The open database: makes scopes, and answers the one question that comes before any organization is known. */
export class Database {
  constructor(
    private readonly knex: Knex,
    private readonly ports: Ports,
  ) {}

  /** Runs work that concerns several organizations in one transaction. */
  transaction<R>(work: (database: Database, trx: Knex) => Promise<R>): Promise<R> {
    return this.knex.transaction((trx) => work(new Database(trx, this.ports), trx));
  }

  /** @param assistantIds the assistants whose rows it finds; all without it */
  scope(organizationId: string, assistantIds?: readonly string[]): Scope {
    return new Scope(this.knex, organizationId, this.ports, [], undefined, assistantIds);
  }

  /** The organization that callers without credential stand for; undefined before it is made. */
  async defaultOrganizationId(): Promise<string | undefined> {
    const [row] = await this.rowsOf<{ parleyDefaultOrganization: string | null }>(
      "parley_default_organization()",
    );
    return row?.parleyDefaultOrganization ?? undefined;
  }

  /** Whose key a presented value is, by what it is looked up under. */
  async ownerOfKey(lookups: readonly string[]): Promise<OfOrganization<"keyId"> | undefined> {
    const [found] = await this.rowsOf<OfOrganization<"keyId">>("parley_owner_of_key(?)", [[...lookups]]);
    return found;
  }

  /** Whose call is found under any of these. */
  async ownerOfCall(lookups: readonly string[]): Promise<OfOrganization<"chatId"> | undefined> {
    const [found] = await this.rowsOf<OfOrganization<"chatId">>("parley_owner_of_call(?)", [[...lookups]]);
    return found;
  }

  /** Whose numbers these are; undefined for one that nobody has connected. */
  async ownersOfNumbers(...phoneNumbers: string[]): Promise<(NumberOwner | undefined)[]> {
    const rows = await this.rowsOf<NumberOwner>("parley_owners_of_numbers(?)", [phoneNumbers]);
    return phoneNumbers.map((number) => rows.find(({ phoneNumber }) => phoneNumber === number));
  }

  /** Destinations of all organizations that have something to be sent now. */
  dueDestinations(): Promise<OfOrganization<"destinationId">[]> {
    return this.rowsOf("parley_due_destinations()");
  }

  /** Chats of all organizations in which nothing was said for so many minutes; at most 500. */
  idleChats(minutes: number): Promise<OfOrganization<"chatId">[]> {
    return this.rowsOf("parley_idle_chats(now() - ? * interval '1 minute')", [minutes]);
  }

  /** Organizations with events that have no position in their ledger yet. */
  unplacedEvents(): Promise<string[]> {
    return this.organizationsOf("parley_unplaced_events()");
  }

  /** Organizations with notes of texts that are older than so many days. */
  expiredTexts(days: number): Promise<string[]> {
    return this.organizationsOf("parley_expired_texts(now() - ? * interval '1 day')", [days]);
  }

  /** Keeps the facts of ended chats of all organizations, at most so many, which are computed anew at each reading until then. @returns of how many */
  async keepFacts(most: number): Promise<number> {
    const [row] = await this.rowsOf<{ parleyKeepFacts: number }>("parley_keep_facts(?)", [most]);
    return row?.parleyKeepFacts ?? 0;
  }

  /** Ids of all organizations. */
  async organizationIds(): Promise<string[]> {
    const rows = await this.knex<{ id: string }>("organizations").select("id").orderBy("id");
    return rows.map(({ id }) => id);
  }

  /** Organizations with rows of the audit log that are not numbered yet; at most 1,000. */
  auditWaiting(): Promise<string[]> {
    return this.organizationsOf("parley_audit_waiting()");
  }

  /** The name of the installation's file store, once a server has claimed one. */
  async fileStore(): Promise<string | undefined> {
    const [row] = await this.knex<{ id: string }>("file_store").select("id");
    return row?.id;
  }

  /** Names the file store unless it has a name. @returns the name that holds */
  async claimFileStore(id: string): Promise<string> {
    await this.knex("file_store").insert({ id }).onConflict("one").ignore();
    return (await this.fileStore())!;
  }

  async replaceFileStore(id: string): Promise<void> {
    await this.knex("file_store").insert({ id }).onConflict("one").merge(["id"]);
  }

  /** Why jobs wait; undefined when they run. */
  hold(): Promise<Hold | undefined> {
    return currentHold(this.knex);
  }

  /** Whether the database answers, and whether it takes writes: a standby and a database on a full disk may not. */
  async health(): Promise<"ok" | "read-only"> {
    const { rows } = await this.knex.raw<{ rows: { setting: string }[] }>(
      "select current_setting('transaction_read_only') as setting",
    );
    return rows[0]?.setting === "off" ? "ok" : "read-only";
  }

  /** What the database's clock shows, to the millisecond. */
  async time(): Promise<Date> {
    const { rows } = await this.knex.raw<{ rows: { now: Date }[] }>("select clock_timestamp() as now");
    return rows[0]!.now;
  }

  /** Ids of all organizations, also for a role that sees one at a time. */
  everyOrganization(): Promise<string[]> {
    return this.organizationsOf("parley_organizations()");
  }

  /** Tables that are keyed by organization first. */
  async tenantTables(): Promise<string[]> {
    const { rows } = await this.knex.raw<{ rows: { name: string }[] }>(`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indkey[0] = a.attnum
      where c.relnamespace = 'public'::regnamespace order by c.relname`);
    return rows.map(({ name }) => name);
  }

  /** Organizations whose stored bytes are to be measured: those with as many as `large` more often. */
  unmeasured(large: number): Promise<string[]> {
    return this.organizationsOf("parley_unmeasured(?)", [large]);
  }

  /** Erasures of all organizations that are not done and at which nobody worked for so many seconds. */
  unfinishedErasures(silence: number): Promise<OfOrganization<"erasureId">[]> {
    return this.rowsOf("parley_unfinished_erasures(? * interval '1 second')", [silence]);
  }

  /** Exports of all organizations whose archives have been kept for long enough. */
  expiredExports(): Promise<OfOrganization<"exportId">[]> {
    return this.rowsOf("parley_expired_exports()");
  }

  async close(): Promise<void> {
    await this.knex.destroy();
  }

  /** Organizations that a function of the database names. */
  private async organizationsOf(call: string, values: readonly Knex.RawBinding[] = []): Promise<string[]> {
    const rows = await this.rowsOf<OfOrganization<never>>(call, values);
    return rows.map(({ organizationId }) => organizationId);
  }

  /** Rows of a function of the database. R names the columns that its migration declares. */
  private async rowsOf<R>(call: string, values: readonly Knex.RawBinding[] = []): Promise<R[]> {
    const rows: unknown = await this.knex.select("*").from(this.knex.raw(call, values));
    return rows as R[]; // the one place where the columns of functions are taken on trust
  }
}

/** Id of a record with that of its organization. */
type OfOrganization<K extends string> = Readonly<Record<"organizationId" | K, string>>;

/** Who has connected a number. */
interface NumberOwner {
  readonly phoneNumber: string;
  readonly organizationId: string;
  readonly connectionId: string;
}
