import type { Knex } from "knex";
import type { Logger } from "pino";
import { Availability } from "../../availability";
import type { ReadReplica } from "../../ports/ports";
import { refuseOtherName, type ServerFacts } from "../connections/same-database";
import { mistake } from "../../mistake";

/** The replica is asked at most once in this time how far it has come. */
const LOOK_INTERVAL_MS = 10;
/** An answer is used for this long: a replica that was promoted follows the primary no more. */
const TRUSTED_MS = 1_000;
/** A replica that fails is left alone for this long. */
const AWAY_MS = 2_000;

/** The control file names the timeline of the last restartpoint, or of pages written since. */
const REPLAYED = `
  select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end - '0/0'::pg_lsn)::text as replayed,
    current_database() as database, (select system_identifier::text from pg_control_system()) as system,
    greatest((select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery())) as timeline`;
const TIMELINE = `
  select case when not pg_is_in_recovery() then
    ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer end as timeline`;

const WRITTEN = "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as written";

const LOST = "the replica of the database cannot be read, so the primary is read instead";
const BACK = "the replica of the database is read again";

interface Replayed {
  readonly replayed: string | null;
  readonly database: string;
  readonly system: string;
  readonly timeline: number;
}

/** A physical replica of the database, for reads that may run there once it has what their organization wrote. */
export class Replica implements ReadReplica {
  /** How far it has come in the primary's log, in bytes. */
  private replayed = -1n;
  private lookedAt = -Infinity;
  private awayUntil = -Infinity;
  private looking?: Promise<void>;
  private readonly availability: Availability;

  /**
   * @param primary a pool of the primary
   * @param facts those of the primary, which are the same after a fail-over
   */
  constructor(
    readonly db: Knex,
    private readonly primary: Knex,
    private readonly facts: Pick<ServerFacts, "system" | "database">,
    logger: Pick<Logger, "warn">,
    readonly countRead: ReadReplica["countRead"],
  ) {
    this.availability = new Availability(logger, LOST, BACK);
  }

  /** Whether it has everything up to a position in the primary's log. */
  async has(position: bigint): Promise<boolean> {
    const now = performance.now();
    if (now < this.awayUntil) return false;
    const isTrusted = now - this.lookedAt < TRUSTED_MS;
    if (isTrusted && (this.replayed >= position || now - this.lookedAt < LOOK_INTERVAL_MS))
      return this.replayed >= position;
    await (this.looking ??= this.look().finally(() => (this.looking = undefined)));
    return this.replayed >= position;
  }

  /** Leaves the replica alone for a while after a failure. */
  failed(error: unknown): void {
    this.awayUntil = performance.now() + AWAY_MS;
    this.replayed = -1n;
    this.availability.failed(error);
  }

  /** How much of the primary's log it has not replayed, in bytes. @throws if one of both does not answer */
  async lagBytes(): Promise<number> {
    // The replica first: what the primary writes meanwhile is no negative lag.
    const { replayed } = await firstRow<Replayed>(this.db, REPLAYED);
    if (replayed === null) throw new Error(NOT_FOLLOWING);
    const { written } = await firstRow<{ written: string }>(this.primary, WRITTEN);
    return Math.max(0, Number(BigInt(written) - BigInt(replayed)));
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }

  /** Positions of another timeline say nothing, because a promoted server continues the log with other content. */
  private async look(): Promise<void> {
    try {
      const [{ timeline }, { replayed, ...found }] = await Promise.all([
        firstRow<{ timeline: number | null }>(this.primary, TIMELINE).catch(() => ({ timeline: null })),
        firstRow<Replayed>(this.db, REPLAYED),
      ]);
      if (timeline === null) return void (this.replayed = -1n); // reads of the primary say why
      if (replayed === null) throw new Error(NOT_FOLLOWING);
      refuseOtherServer({ ...found, follows: true }, this.facts);
      if (found.timeline !== timeline) throw new Error(otherTimeline(found.timeline, timeline));
      this.replayed = BigInt(replayed);
      this.lookedAt = performance.now();
      this.availability.works();
    } catch (error) {
      this.failed(error);
    }
  }
}

const firstRow = <R>(db: Knex, text: string): Promise<R> =>
  db.raw<{ rows: R[] }>(text).then(({ rows }) => rows[0]!);

/** @throws Error if DATABASE_REPLICA_URL names something else than a replica of the primary */
export function refuseOtherServer(
  found: ServerFacts,
  primary: Pick<ServerFacts, "system" | "database">,
): void {
  const isRelated = found.system === primary.system; // a fail-over may make it a replica
  if (!found.follows) throw isRelated ? new Error(NOT_FOLLOWING) : mistake(new Error(NOT_FOLLOWING));
  if (!isRelated)
    throw mistake(
      new Error(
        "DATABASE_REPLICA_URL names a replica of another server than that of DATABASE_URL. Name a hot standby of that server, or remove the setting.",
      ),
    );
  refuseOtherName("DATABASE_REPLICA_URL", found, primary);
}

const NOT_FOLLOWING =
  "DATABASE_REPLICA_URL names a server that is not a streaming replica: it is not in recovery. Name a hot standby of the server of DATABASE_URL, or remove the setting.";

const otherTimeline = (found: number, primary: number): string =>
  `The replica (DATABASE_REPLICA_URL) is on timeline ${found}, but the primary on timeline ${primary}. After a fail-over, let the replica follow the new primary; it is used from its next restartpoint on.`;
