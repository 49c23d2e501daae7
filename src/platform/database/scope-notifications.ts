import type { Knex } from "knex";
import { currentTime } from "../clock";
import type { Notifications } from "../ports/ports";
import { enqueueJob, type JobOptions } from "./enqueue-job";
import { Expressions } from "./expressions";
import type { Client } from "./knex-client/client";

/** Tells other servers, and workers, of the changes of a scope. */
export abstract class ScopeNotifications extends Expressions {
  abstract readonly organizationId: string;
  abstract readonly ports: { readonly listener: Notifications };

  /** The payload of a job or notification, with the organization's id. */
  owned<V extends object>(values: V): V & { readonly organizationId: string } {
    return { organizationId: this.organizationId, ...values };
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.db.isTransaction === true;
  }

  /** Enqueues a job that runs after this transaction has committed; jobs of one `queue` run one after another. */
  async enqueue(
    task: string,
    payload: Readonly<Record<string, unknown>>,
    options?: JobOptions,
  ): Promise<void> {
    await enqueueJob(this.db, task, this.owned(payload), options);
    if ((options?.runAt?.getTime() ?? 0) <= currentTime()) this.wakeWorkers(1);
  }

  /** Wakes the workers of all servers for new jobs once this transaction has committed. */
  wakeWorkers(jobs: number): void {
    this.afterCommit(() => this.ports.listener.wakeWorkers(jobs));
  }

  /**
   * Notifies all servers once this transaction has committed, or now if none is open. A notification may be lost, so
   * receivers look for changes once a second, too. The payload contains ids, never rows (limit: 8 kB).
   */
  announce(channel: string, ids: Readonly<Record<string, string>>): void {
    this.afterCommit(() => this.ports.listener.send(channel, this.owned(ids)));
  }

  /**
   * Notifies all servers by this transaction's commit, which waits for the commits of all others that do: for what must
   * not be lost, such as the end of a key.
   */
  async notify(channel: string, ids: Readonly<Record<string, string>>): Promise<void> {
    await this.db.raw("select pg_notify(?, ?)", [channel, JSON.stringify(this.owned(ids))]);
  }

  private afterCommit(act: () => void): void {
    const { db } = this;
    if (!this.inTransaction) return act();
    const { executionPromise } = db as Knex.Transaction; // `inTransaction` tells what it is
    const { wrote } = (db.client as Client).settings; // as connect makes it
    executionPromise.then(() => wrote?.(this.organizationId)).then(act, () => undefined);
  }
}
