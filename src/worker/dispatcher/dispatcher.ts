import { AsyncLocalStorage } from "node:async_hooks";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { newId } from "../../platform/database/values/ids";
import type { DeliveryRoom, EventKind, StartedDelivery, StoredDeliveries } from "../../platform/ports/ports";
import type { Database, PendingDelivery } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import type { Listener } from "../../platform/database/notifications/listener";
import { DELIVERIES_CHANNEL } from "../../events/events/record";
import { DeliveryQueues, type BegunDelivery } from "../../events/webhooks/queues";
import { Lookout } from "../../platform/lookout";
import { Lanes, type Lane } from "./lanes";
import { nameOf } from "./places";
import { QueueRuns, type RunOptions, type Taken } from "./queue-runs";

export interface DispatcherOptions extends Omit<RunOptions, "scopeOf" | "lanes" | "ended" | "isStopping"> {
  readonly database: Database;
  readonly listener: Pick<Listener, "on">;
  readonly logger: Logger;
}

/** Pause before looking for due retries and for expired claims of dead servers, and the same after a minute without deliveries. */
const PAUSE_MS = 1_000;
const QUIET_PAUSE_MS = 5_000;
/** Deliveries that begin within this time of the first share what is read for them. */
const SHARED_MS = 100;
/** Pending deliveries at a time whose queues are looked for. */
const REPAIR_BATCH_SIZE = 1_000;
/** Least time between such batches. Only an interrupted server of an older version leaves a queue out. */
const REPAIR_INTERVAL_MS = 5_000;

/**
 * Sends due deliveries, including those that other servers recorded. A notification wakes the destination's lane; a
 * sweep finds due retries and queues of dead servers. All state is stored with the deliveries and their queues.
 *
 * One job per delivery would be simpler, but the jobs of a destination that hangs would fill the worker's slots, and a
 * shared job key would make transactions of one organization wait for each other.
 */
export class Dispatcher {
  private readonly lanes = new Lanes();
  private readonly runs: QueueRuns;
  private readonly unsubscribe: () => void;
  private readonly lookout: Lookout;
  private readonly renewal: NodeJS.Timeout;
  /** Runs work that a request starts outside of its trace: deliveries belong to that of their event. */
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly repairing = new Set<string>();
  private readonly shared = new LRUCache<string, Scope>({ max: 1_000, ttl: SHARED_MS, ttlAutopurge: true });
  private repairedTo: PendingDelivery | undefined;
  private repairedAt = -Infinity;
  private stopped = false;

  constructor(private readonly options: DispatcherOptions) {
    const { listener, takeoverMs, database } = options;
    this.runs = new QueueRuns({
      ...options,
      lanes: this.lanes,
      scopeOf: (organizationId) => database.scope(organizationId),
      isStopping: () => this.stopped,
      ended: () => {
        for (const pending of this.lanes.pending()) void this.fill(pending);
      },
    });
    this.unsubscribe = listener.on(DELIVERIES_CHANNEL, ({ organizationId, destinationId, queued }) => {
      if (queued === undefined) void this.repair(organizationId!, destinationId!);
      else this.wake(organizationId!, destinationId!);
    });
    this.lookout = new Lookout({
      look: () => this.sweep(),
      ...{ pauseMs: PAUSE_MS, quietPauseMs: QUIET_PAUSE_MS },
      failed: (error) => this.warn(error, "due deliveries were not found"),
    });
    this.renewal = setInterval(() => void this.runs.renew(), takeoverMs / 3).unref();
  }

  /**
   * Takes room for the deliveries of an event that is about to be stored, whose statement then begins them: nobody has
   * to look for them.
   */
  room(organizationId: string, kind: EventKind): DeliveryRoom | undefined {
    const lanes = this.stopped ? [] : this.lanes.withRoom(organizationId, kind);
    if (lanes.length === 0) return undefined;
    const claim = newId();
    let take!: DeliveryRoom["take"];
    const stored = new Promise<StoredDeliveries | undefined>((resolve) => (take = resolve));
    const destinationIds: string[] = [];
    for (const lane of lanes) {
      if (this.lanes.capacity(lane) <= 0) continue; // another one has taken the last place
      const taken = stored.then((all) => all && this.takenBy(lane, claim, all));
      this.outside(() => this.runs.start(lane, taken));
      destinationIds.push(lane.destinationId);
    }
    return { claim, leaseMs: this.options.takeoverMs, destinationIds, take };
  }

  /** The queue with the delivery that was begun for a lane. */
  private takenBy(
    { organizationId, destinationId }: Lane,
    claim: string,
    { event, destinationIds, started: all }: StoredDeliveries,
  ): Taken | undefined {
    if (!destinationIds.includes(destinationId)) this.lanes.noteMiss(organizationId, event, destinationId);
    const started = all.find((one) => one.destinationId === destinationId);
    if (!started) return undefined;
    this.lookout.noteWork(); // a retry may be due soon
    const known = event as BegunDelivery["event"]; // as record.ts stores it
    const first = { id: started.id, attempt: 1, recordedAttempts: 0, event: known };
    const queue = { destinationId, chatId: event.chatId, deliveryId: "", claim, first };
    return { scope: this.sharedScope(organizationId, started), queue };
  }

  /** Stops claiming, gives back what has not been sent, and waits for deliveries in flight. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.unsubscribe();
    const looked = this.lookout.stop();
    this.lanes.close();
    await this.runs.idle();
    await looked;
    clearInterval(this.renewal); // claims are renewed until then, so that no other server sends the same deliveries
  }

  private wake(organizationId: string, destinationId: string): void {
    this.lookout.noteWork();
    void this.fill(this.lanes.markPending(organizationId, destinationId));
  }

  /** @returns whether deliveries are due */
  private async sweep(): Promise<boolean> {
    if (performance.now() - this.repairedAt >= REPAIR_INTERVAL_MS) {
      this.repairedAt = performance.now();
      await this.repairNext();
    }
    const due = await this.options.database.dueDestinations();
    for (const { organizationId, destinationId } of due) this.wake(organizationId, destinationId);
    return due.length > 0;
  }

  /** Adds missing queues, batch by batch as long as any are missing; else one batch. */
  private async repairNext(): Promise<void> {
    const { database } = this.options;
    let more = true;
    while (more && !this.stopped) {
      const reached = await database.repairQueues(this.repairedTo, REPAIR_BATCH_SIZE);
      this.repairedTo = reached;
      more = reached !== undefined && reached.repaired > 0;
      if (more) this.wake(reached!.organizationId, reached!.destinationId);
    }
  }

  /** Adds the queues of new deliveries of a server of an older version, and wakes the lane. */
  private async repair(organizationId: string, destinationId: string): Promise<void> {
    const name = nameOf({ organizationId, destinationId });
    if (this.repairing.has(name) || this.stopped) return;
    this.repairing.add(name);
    try {
      await this.scope(organizationId).of(DeliveryQueues).repair(destinationId);
    } catch (error) {
      this.warn(error, "queues of deliveries were not added");
    } finally {
      this.repairing.delete(name);
    }
    this.wake(organizationId, destinationId);
  }

  /** Claims as many queues as the limits allow; one claim at a time per lane. */
  private async fill(lane: Lane): Promise<void> {
    if (lane.filling || this.stopped) return;
    lane.filling = true;
    try {
      while (this.lanes.isPending(lane) && !this.stopped) {
        const capacity = this.lanes.capacity(lane);
        if (capacity < this.lanes.minimumClaim(lane)) break; // stays pending: the next queue that ends fills it again
        this.lanes.clearPending(lane);
        const scope = this.scope(lane.organizationId); // shared by the queues, so that their target is read once
        const queues = await scope
          .of(DeliveryQueues)
          .claim(lane.destinationId, capacity, this.options.takeoverMs);
        if (queues.length === capacity) this.lanes.markPending(lane.organizationId, lane.destinationId);
        for (const queue of queues) this.runs.start(lane, { scope, queue });
      }
    } catch (error) {
      this.warn(error, "deliveries were not claimed");
    } finally {
      lane.filling = false;
      this.lanes.release(lane);
    }
  }

  /** One scope for what is stored within a short time, so that a destination is read once after each of its changes. */
  private sharedScope(organizationId: string, { destinationId, changedAt }: StartedDelivery): Scope {
    const key = `${nameOf({ organizationId, destinationId })} ${changedAt}`;
    const known = this.shared.get(key);
    if (known) return known;
    const scope = this.scope(organizationId);
    this.shared.set(key, scope);
    return scope;
  }

  private warn(error: unknown, message: string): void {
    this.options.logger.warn({ err: error }, message);
  }

  private scope(organizationId: string): Scope {
    return this.options.database.scope(organizationId);
  }
}
