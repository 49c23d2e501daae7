import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { SqlText } from "../values/sql-text";

/** Notifications of so many milliseconds are sent together. */
const COLLECT_MS = 5;
/** Notifications per statement. */
const MAX_BATCH = 500;
/** More notifications than this wait only if the database does not answer; further ones are dropped. */
const MAX_WAITING = 10_000;
/** PostgreSQL refuses longer payloads. */
const MAX_PAYLOAD_BYTES = 7_999;
/** After this time without an answer the connection counts as broken. */
const SEND_TIMEOUT_MS = 5_000;
/** Time in which a stopping server sends what waits. */
const FLUSH_TIMEOUT_MS = 1_000;

/** Channel that wakes the workers of graphile-worker, with the number of new jobs. */
const JOBS_CHANNEL = "jobs:insert";

const SEND = new SqlText(
  "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as waiting (channel, payload)",
);

/**
 * Sends notifications about committed changes in batches, one at a time, on the connection of the listener. A
 * transaction that notifies holds a lock of the whole PostgreSQL server until its commit is on disk, so a NOTIFY in
 * every writing transaction would make all commits wait for each other.
 *
 * Notifications that cannot be sent are dropped: receivers look for changes once a second, too.
 */
export class NotificationSender {
  private waiting: (readonly [channel: string, payload: string])[] = [];
  private newJobs = 0;
  private sending: Promise<void> | undefined;

  /**
   * @param client the connection, undefined while there is none
   * @param failed called if the connection does not answer
   */
  constructor(
    private readonly client: () => pg.Client | undefined,
    private readonly failed: (client: pg.Client) => void,
  ) {}

  add(channel: string, payload: string): void {
    if (this.waiting.length < MAX_WAITING && Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES)
      this.waiting.push([channel, payload]);
    this.sending ??= this.send();
  }

  /** Wakes as many workers as there are new jobs. */
  addJobs(count: number): void {
    this.newJobs += count;
    this.sending ??= this.send();
  }

  /** Resolves when nothing waits, or after a second. */
  async flush(): Promise<void> {
    await Promise.race([this.sending, sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private async send(): Promise<void> {
    await immediate(); // collects what the same events cause
    while (this.waiting.length > 0 || this.newJobs > 0) {
      await this.sendBatch(this.takeBatch());
      if (this.waiting.length < MAX_BATCH) await sleep(COLLECT_MS);
    }
    this.sending = undefined;
  }

  private takeBatch() {
    const batch = this.waiting.splice(0, MAX_BATCH);
    if (this.newJobs > 0) batch.push([JOBS_CHANNEL, JSON.stringify({ count: this.newJobs })]);
    this.newJobs = 0;
    return batch;
  }

  private async sendBatch(batch: readonly (readonly [string, string])[]): Promise<void> {
    const client = this.client();
    if (!client) return;
    const values = [batch.map(([channel]) => channel), batch.map(([, payload]) => payload)];
    const timeout = setTimeout(() => this.failed(client), SEND_TIMEOUT_MS);
    // Fails if the connection breaks, or if the database has become read-only.
    await client.query(SEND.with(values)).catch(() => undefined);
    clearTimeout(timeout);
  }
}
