import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { AuditLog } from "../../account/audit/audit-log";
import type { AuditHead } from "../../account/audit/chain";
import type { Database } from "../../platform/database/database";
import { Lookout } from "../../platform/lookout";

/** Pause before looking for unsealed rows, which must be sealed within 5 s, and the same after a minute without any. */
const PAUSE_MS = 2_000;
const QUIET_PAUSE_MS = 4_000;
/** Rest between batches, in times of what the last one took, so that requests do not wait for many batches in a row. */
const RESTS = 3;
/** The longest rest, in ms: entries must be sealed in time also when batches are slow. */
const MAX_REST_MS = 50;
/** Interval of logging heads; they are also logged at shutdown, but not at startup. */
const LOG_INTERVAL_MS = 3_600_000;
/** Heads per log line. */
const HEADS_PER_LINE = 100;

type SealerLogger = Pick<Logger, "info" | "warn" | "isLevelEnabled" | "child">;

/** @returns a pause between batches */
function resting(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    await sleep(Math.min(MAX_REST_MS, RESTS * (performance.now() - begun)));
    begun = performance.now();
  };
}

/** Numbers and chains new rows of the audit log, and writes the heads of the chains to the server's log. */
export class AuditSealer {
  private readonly lookout = new Lookout({
    look: () => this.sweep(),
    ...{ pauseMs: PAUSE_MS, quietPauseMs: QUIET_PAUSE_MS },
    failed: (error) => this.warn(error),
  });
  private readonly notices: Pick<Logger, "info">;
  private loggedAt = performance.now();
  /** Heads that have not been logged yet, by organization. */
  private readonly heads = new Map<string, AuditHead>();

  constructor(
    private readonly database: Database,
    private readonly logger: SealerLogger,
    isTerminal = process.stderr.isTTY,
  ) {
    // Logged heads later prove that no entry was changed, so they are written even at the default level, `warn`. A
    // terminal keeps nothing.
    const writes = logger.isLevelEnabled("warn") && !isTerminal;
    this.notices = writes ? logger.child({}, { level: "info" }) : logger;
  }

  /** Stops sealing and logs the remaining heads. */
  async stop(): Promise<void> {
    await this.lookout.stop();
    this.logHeads();
  }

  private async sweep(): Promise<boolean> {
    if (performance.now() - this.loggedAt >= LOG_INTERVAL_MS) this.logHeads();
    const waiting = await this.database.auditWaiting();
    for (const organizationId of waiting) {
      const log = this.database.scope(organizationId).of(AuditLog);
      const head = await log.seal(resting()).catch((error: unknown) => this.warn(error, organizationId));
      if (head) this.heads.set(organizationId, head);
    }
    return waiting.length > 0;
  }

  private warn(error: unknown, organizationId?: string): undefined {
    this.logger.warn({ err: error, organizationId }, "the audit log was not sealed");
  }

  /** Logs the heads that have changed, HEADS_PER_LINE per line, as POSITION:HASH by organization. */
  private logHeads(): void {
    if (this.heads.size === 0) return;
    this.loggedAt = performance.now();
    const changed = [...this.heads].map(([id, { position, hash }]) => [id, `${position}:${hash}`] as const);
    this.heads.clear();
    for (let at = 0; at < changed.length; at += HEADS_PER_LINE) {
      const heads = Object.fromEntries(changed.slice(at, at + HEADS_PER_LINE));
      this.notices.info({ heads }, "heads of the audit log");
    }
  }
}
