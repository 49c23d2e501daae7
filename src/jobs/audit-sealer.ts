import type { Logger } from "pino";
import { AuditLog } from "../audit/audit-log";
import type { AuditHead } from "../audit/chain";
import type { Database } from "../database/database";

/** How often rows that wait are looked for, in ms. They are to be numbered within 5 s. */
const SEAL_EVERY_MS = 1_000;
/** An organization's head is logged at most this often, in ms. */
const TELL_EVERY_MS = 60_000;

/** Numbers and chains what was written to the audit log, and publishes the heads of the chains in the server's log. */
export class AuditSealer {
  private readonly timer = setInterval(() => void this.look(), SEAL_EVERY_MS).unref();
  /** When each organization's head was logged last. */
  private readonly told = new Map<string, number>();
  /** Heads that are still to be logged. */
  private readonly heads = new Map<string, AuditHead>();
  private running: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly logger: Pick<Logger, "info" | "warn">,
  ) {}

  /** Stops looking, and tells the heads that were not told yet. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
    this.tell(0);
  }

  private async look(): Promise<void> {
    if (this.running) return;
    this.running = this.seal().catch((error: unknown) => this.warn(error));
    await this.running;
    this.running = undefined;
    this.tell(TELL_EVERY_MS);
  }

  private async seal(): Promise<void> {
    for (const organizationId of await this.database.auditWaiting()) {
      const log = this.database.scope(organizationId).of(AuditLog);
      const head = await log.seal().catch((error: unknown) => this.warn(error, organizationId));
      if (head) this.heads.set(organizationId, head);
    }
  }

  private warn(error: unknown, organizationId?: string): undefined {
    this.logger.warn({ err: error, organizationId }, "the audit log was not sealed");
  }

  private tell(every: number): void {
    const now = performance.now();
    for (const [organizationId, head] of this.heads) {
      const last = this.told.get(organizationId);
      if (last !== undefined && now - last < every) continue;
      this.heads.delete(organizationId);
      this.told.set(organizationId, now);
      this.logger.info({ organizationId, ...head }, "head of the audit log");
    }
  }
}
