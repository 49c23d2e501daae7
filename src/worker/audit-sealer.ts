import type { Logger } from "pino";
import { AuditLog } from "../account/audit/audit-log";
import type { AuditHead } from "../account/audit/chain";
import type { Database } from "../platform/database/database";

/** How often rows that wait are looked for, in ms. They are to be numbered within 5 s. */
const SEAL_EVERY_MS = 1_000;
/** Heads are logged this often, in ms, and when the server stops: what starts a server by hand does not see them at once. */
const TELL_EVERY_MS = 3_600_000;
/** Heads in one line of the log. */
const HEADS_IN_LINE = 100;

type SealerLogger = Pick<Logger, "info" | "warn" | "isLevelEnabled" | "child">;

/** Numbers and chains what was written to the audit log, and publishes the heads of the chains in the server's log. */
export class AuditSealer {
  private readonly timer = setInterval(() => void this.look(), SEAL_EVERY_MS).unref();
  private readonly notices: Pick<Logger, "info">;
  private toldAt = performance.now();
  /** Heads that are still to be logged. */
  private readonly heads = new Map<string, AuditHead>();
  private running: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly logger: SealerLogger,
  ) {
    // Heads in the log prove later that no entry was changed, so they are written at the default level, `warn`, too.
    this.notices = logger.isLevelEnabled("warn") ? logger.child({}, { level: "info" }) : logger;
  }

  /** Stops looking, and logs the heads that were not logged yet. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
    this.tell();
  }

  private async look(): Promise<void> {
    if (this.running) return;
    this.running = this.seal().catch((error: unknown) => this.warn(error));
    await this.running;
    this.running = undefined;
    if (performance.now() - this.toldAt >= TELL_EVERY_MS) this.tell();
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

  /** Logs the heads that have moved, some in a line, as POSITION:HASH by organization. */
  private tell(): void {
    if (this.heads.size === 0) return;
    this.toldAt = performance.now();
    const moved = [...this.heads].map(([id, { position, hash }]) => [id, `${position}:${hash}`] as const);
    this.heads.clear();
    for (let at = 0; at < moved.length; at += HEADS_IN_LINE) {
      const heads = Object.fromEntries(moved.slice(at, at + HEADS_IN_LINE));
      this.notices.info({ heads }, "heads of the audit log");
    }
  }
}
