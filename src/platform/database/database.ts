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

  /** Whether somebody waits for a connection, as all of them are in use. */
  get crowded(): boolean {
    const { pool } = this.knex.client as { pool: { numPendingAcquires(): number } };
    return pool.numPendingAcquires() > 0;
  }

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
    const [row] = (await this.knex.select("*").from(this.knex.raw("parley_default_organization()"))) as {
      parleyDefaultOrganization: string | null;
    }[];
    return row?.parleyDefaultOrganization ?? undefined;
  }

  /** Whose key a presented value is, by what it is looked up under. */
  async ownerOfKey(
    lookups: readonly string[],
  ): Promise<{ organizationId: string; keyId: string } | undefined> {
    const rows = this.knex.select("*").from(this.knex.raw("parley_owner_of_key(?)", [[...lookups]]));
    const [found] = (await rows) as { organizationId: string; keyId: string }[];
    return found;
  }

  /** Whose call is found under any of these. */
  async ownerOfCall(
    lookups: readonly string[],
  ): Promise<{ organizationId: string; chatId: string } | undefined> {
    const rows = this.knex.select("*").from(this.knex.raw("parley_owner_of_call(?)", [[...lookups]]));
    const [found] = (await rows) as { organizationId: string; chatId: string }[];
    return found;
  }

  /** Whose numbers these are; undefined for one that nobody has connected. */
  async ownersOfNumbers(...phoneNumbers: string[]): Promise<(NumberOwner | undefined)[]> {
    const found = this.knex.raw("parley_owners_of_numbers(?)", [phoneNumbers]);
    const rows = (await this.knex.select("*").from(found)) as NumberOwner[];
    return phoneNumbers.map((number) => rows.find(({ phoneNumber }) => phoneNumber === number));
  }

  /** Destinations of all organizations that have something to be sent now. */
  async dueDestinations(): Promise<{ organizationId: string; destinationId: string }[]> {
    return (await this.knex.select("*").from(this.knex.raw("parley_due_destinations()"))) as never; // its columns
  }

  /** Chats of all organizations in which nothing was said for so many minutes; at most 500. */
  async idleChats(minutes: number): Promise<{ organizationId: string; chatId: string }[]> {
    return (await this.knex
      .select("*")
      .from(this.knex.raw("parley_idle_chats(now() - ? * interval '1 minute')", [minutes]))) as never; // its columns
  }

  /** Organizations with events that have no position in their ledger yet. */
  async unplacedEvents(): Promise<string[]> {
    const rows = this.knex.select("*").from(this.knex.raw("parley_unplaced_events()"));
    return ((await rows) as { organizationId: string }[]).map(({ organizationId }) => organizationId);
  }

  /** Organizations with notes of texts that are older than so many days. */
  async expiredTexts(days: number): Promise<string[]> {
    const expired = this.knex.raw("parley_expired_texts(now() - ? * interval '1 day')", [days]);
    const rows = (await this.knex.select("*").from(expired)) as { organizationId: string }[];
    return rows.map(({ organizationId }) => organizationId);
  }

  /** Keeps the facts of ended chats of all organizations, at most so many, which are computed anew at each reading until then. @returns of how many */
  async keepFacts(most: number): Promise<number> {
    const [row] = (await this.knex.select("*").from(this.knex.raw("parley_keep_facts(?)", [most]))) as {
      parleyKeepFacts: number;
    }[];
    return row?.parleyKeepFacts ?? 0;
  }

  /** Ids of all organizations. */
  async organizationIds(): Promise<string[]> {
    const rows = (await this.knex("organizations").select("id").orderBy("id")) as { id: string }[];
    return rows.map(({ id }) => id);
  }

  /** Organizations with rows of the audit log that are not numbered yet; at most 1,000. */
  async auditWaiting(): Promise<string[]> {
    const rows = (await this.knex.select("*").from(this.knex.raw("parley_audit_waiting()"))) as {
      organizationId: string;
    }[];
    return rows.map(({ organizationId }) => organizationId);
  }

  /** The name of the installation's file store, once a server has claimed one. */
  async fileStore(): Promise<string | undefined> {
    const [row] = (await this.knex("file_store").select("id")) as { id: string }[];
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
    const { rows } = (await this.knex.raw("select current_setting('transaction_read_only') as setting")) as {
      rows: { setting: string }[];
    };
    return rows[0]?.setting === "off" ? "ok" : "read-only";
  }

  /** What the database's clock shows, to the millisecond. */
  async time(): Promise<Date> {
    const { rows } = await this.knex.raw<{ rows: { now: Date }[] }>("select clock_timestamp() as now");
    return rows[0]!.now;
  }

  /** Ids of all organizations, also for a role that sees one at a time. */
  async everyOrganization(): Promise<string[]> {
    const rows = this.knex.select("*").from(this.knex.raw("parley_organizations()"));
    return ((await rows) as { organizationId: string }[]).map(({ organizationId }) => organizationId);
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
  async unmeasured(large: number): Promise<string[]> {
    const rows = this.knex.select("*").from(this.knex.raw("parley_unmeasured(?)", [large]));
    return ((await rows) as { organizationId: string }[]).map(({ organizationId }) => organizationId);
  }

  /** Erasures of all organizations that are not done and at which nobody worked for so many seconds. */
  async unfinishedErasures(silence: number): Promise<{ organizationId: string; erasureId: string }[]> {
    const found = this.knex.raw("parley_unfinished_erasures(? * interval '1 second')", [silence]);
    return (await this.knex.select("*").from(found)) as never; // its columns
  }

  /** Exports of all organizations whose archives have been kept for long enough. */
  async expiredExports(): Promise<{ organizationId: string; exportId: string }[]> {
    return (await this.knex.select("*").from(this.knex.raw("parley_expired_exports()"))) as never; // its columns
  }

  async close(): Promise<void> {
    await this.knex.destroy();
  }
}

/** Who has connected a number. */
interface NumberOwner {
  readonly phoneNumber: string;
  readonly organizationId: string;
  readonly connectionId: string;
}
