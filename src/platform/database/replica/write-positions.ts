import type { Knex } from "knex";
import type { Logger } from "pino";
import { FailureCount } from "../../failure-count";

/** SQLSTATE of a batch with an organization that was deleted meanwhile. */
const FOREIGN_KEY = "23503";

interface Batch {
  readonly organizationIds: Set<string>;
  readonly noted: Promise<void>;
}

/**
 * Notes in the primary how far its log had come when an organization last wrote, for the reads of all servers. A write
 * ends only when that is noted, so whoever was told of it reads it, on every server.
 */
export class WritePositions {
  private waiting?: Batch;
  private running: Promise<void> = Promise.resolve();
  private readonly failures = new FailureCount();

  /** @param db a pool of the primary of its own: writers keep their connections while they wait */
  constructor(
    private readonly db: Knex,
    private readonly logger: Pick<Logger, "warn">,
  ) {}

  /** Resolves when a write that the organization has committed is noted. Writes that end at once share a statement. */
  wrote(organizationId: string): Promise<void> {
    this.waiting ??= this.begin();
    this.waiting.organizationIds.add(organizationId);
    return this.waiting.noted;
  }

  async close(): Promise<void> {
    await this.running;
    await this.db.destroy();
  }

  private begin(): Batch {
    const organizationIds = new Set<string>();
    const noted = this.running.then(() => {
      this.waiting = undefined;
      return this.note([...organizationIds]);
    });
    this.running = noted;
    return { organizationIds, noted };
  }

  /** A failure is logged and not thrown, because the writes have been committed. */
  private async note(organizationIds: readonly string[]): Promise<void> {
    const note = () => this.db.raw("select parley_note_writes(?)", [[...organizationIds]]);
    try {
      await note().catch((error: { code?: unknown }) => {
        if (error.code !== FOREIGN_KEY) throw error;
        return note();
      });
    } catch (err) {
      const failures = this.failures.toLog("note");
      const message =
        "could not note the position of a write: until the next one, the replica may be read too early";
      if (failures !== undefined) this.logger.warn({ err, failures }, message);
    }
  }
}
