import type { Knex } from "knex";
import type { Logger } from "pino";
import { FailureCount } from "../../failure-count";
import type { ReadReplica } from "../../ports/ports";

/** The replica is asked at most once in this time how far it has come. */
const LOOK_INTERVAL_MS = 10;
/** An answer is used for this long: a replica that was promoted follows the primary no more. */
const TRUSTED_MS = 1_000;
/** A replica that fails is left alone for this long. */
const AWAY_MS = 2_000;

const REPLAYED = `
  select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end - '0/0'::pg_lsn)::text as replayed`;

/** A physical replica of the database, for reads that may run there once it has what their organization wrote. */
export class Replica implements ReadReplica {
  /** How far it has come in the primary's log, in bytes. */
  private replayed = -1n;
  private lookedAt = -Infinity;
  private awayUntil = -Infinity;
  private looking?: Promise<void>;
  private readonly failures = new FailureCount();

  constructor(
    readonly db: Knex,
    private readonly logger: Pick<Logger, "warn">,
  ) {}

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

  /** Leaves the replica alone for a while after a failure, which is logged at most once a minute. */
  failed(err: unknown): void {
    this.awayUntil = performance.now() + AWAY_MS;
    this.replayed = -1n;
    const failures = this.failures.toLog("replica");
    const message = "the replica of the database cannot be read, so the primary is read instead";
    if (failures !== undefined) this.logger.warn({ err, failures }, message);
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }

  private async look(): Promise<void> {
    try {
      const { rows } = await this.db.raw<{ rows: { replayed: string | null }[] }>(REPLAYED);
      const { replayed } = rows[0]!;
      if (replayed === null) throw new Error("DATABASE_REPLICA_URL names a server that is not a replica.");
      this.replayed = BigInt(replayed);
      this.lookedAt = performance.now();
    } catch (error) {
      this.failed(error);
    }
  }
}
