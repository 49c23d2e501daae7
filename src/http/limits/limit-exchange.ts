import type { Logger } from "pino";
import type { Listener } from "../../platform/database/notifications/listener";
import { FailureCount } from "../../platform/failure-count";
import { SharedLimit } from "./shared-limit";

/** Channel of notifications about the points that a server has admitted, by limit and key. */
export const LIMITS_CHANNEL = "parley_limits";

/** Points of so many milliseconds are announced together. */
const SHARE_INTERVAL_MS = 100;
/** In characters; PostgreSQL limits payloads to 8,000 bytes. */
const MAX_PAYLOAD_LENGTH = 2_400;

type Exchanged = Pick<Listener, "on" | "sendToOthers" | "connected" | "closed">;

/** Lets the limits of all servers count together. Without a connection, each server counts alone. */
export class LimitExchange {
  private readonly limits = new Map<string, SharedLimit>();
  /** Points to announce, by `limit key`. */
  private unsent = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private announcements = 0;
  private readonly failures = new FailureCount();

  constructor(
    private readonly listener: Exchanged,
    private readonly logger: Pick<Logger, "warn">,
  ) {
    listener.on(LIMITS_CHANNEL, (points) => this.hear(points));
  }

  /** Creates a limit that counts in all servers. @param name without spaces, the same in all servers */
  limit(name: string, points: number, duration: number): SharedLimit {
    const limit = new SharedLimit(points, duration, (key, used) => this.share(`${name} ${key}`, used));
    this.limits.set(name, limit);
    return limit;
  }

  private share(name: string, points: number): void {
    this.unsent.set(name, (this.unsent.get(name) ?? 0) + points);
    this.timer ??= setTimeout(() => this.send(), SHARE_INTERVAL_MS).unref();
  }

  private send(): void {
    this.timer = undefined;
    const { unsent } = this;
    this.unsent = new Map();
    if (!this.listener.connected) return this.warn();
    let payload = this.newPayload();
    let length = 0;
    for (const [name, points] of unsent) {
      if (length + name.length > MAX_PAYLOAD_LENGTH) {
        this.listener.sendToOthers(LIMITS_CHANNEL, payload);
        payload = this.newPayload();
        length = 0;
      }
      payload[name] = String(points);
      length += name.length + 10;
    }
    this.listener.sendToOthers(LIMITS_CHANNEL, payload);
  }

  /** Numbered, because PostgreSQL delivers equal notifications of a transaction once; no limit has this name. */
  private newPayload(): Record<string, string> {
    return { number: String(this.announcements++) };
  }

  private hear(points: Readonly<Record<string, string>>): void {
    for (const [name, used] of Object.entries(points)) {
      const space = name.indexOf(" ");
      this.limits.get(name.slice(0, space))?.add(name.slice(space + 1), Number(used));
    }
  }

  private warn(): void {
    if (this.listener.closed) return; // this server is stopping
    const failures = this.failures.toLog("limits");
    const message = "rate limits count in this server alone until it can notify the others again";
    if (failures !== undefined) this.logger.warn({ failures }, message);
  }
}
