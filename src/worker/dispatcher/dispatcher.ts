import type { Logger } from "pino";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import type { Listener } from "../../platform/database/listener";
import { DELIVERIES_CHANNEL } from "../../events/events/record";
import type { Outbound } from "../../platform/outbound/http";
import { Deliveries, type Claim } from "../../events/webhooks/deliveries";
import { send } from "../../events/webhooks/send";
import { MAX_DEATHS } from "../../platform/jobs/free-jobs";
import { Lanes, type Lane } from "./lanes";

export interface DispatcherOptions {
  readonly database: Database;
  readonly outbound: Outbound;
  readonly listener: Pick<Listener, "on">;
  readonly logger: Logger;
  /** A claim expires after this time unless it is renewed; another server then sends the delivery. */
  readonly takeoverMs: number;
  /** Longest time for a receiver's answer. */
  readonly webhookTimeoutMs: number;
  /** Counts deliveries that were given up because servers died while sending them. */
  readonly countGivenUp: (task: string) => void;
}

/** Interval of looking for due retries and for expired claims of dead servers. */
const SWEEP_INTERVAL_MS = 1_000;

/**
 * Sends due deliveries, including those that other servers recorded. A notification wakes the destination's lane; a
 * sweep finds due retries and claims of dead servers. All state is stored with the deliveries.
 *
 * One job per delivery would be simpler, but the jobs of a destination that hangs would fill the worker's slots, and a
 * shared job key would make transactions of one organization wait for each other.
 */
export class Dispatcher {
  private readonly lanes = new Lanes();
  private readonly running = new Map<Promise<void>, { readonly lane: Lane; readonly claim: Claim }>();
  private readonly unsubscribe: () => void;
  private readonly timers: readonly NodeJS.Timeout[];
  private stopped = false;

  constructor(private readonly options: DispatcherOptions) {
    const { listener, takeoverMs } = options;
    this.unsubscribe = listener.on(DELIVERIES_CHANNEL, (ids) =>
      this.wake(ids.organizationId!, ids.destinationId!),
    );
    this.timers = [
      setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS).unref(),
      setInterval(() => void this.renew(), takeoverMs / 3).unref(),
    ];
  }

  /** Stops claiming and waits for deliveries in flight. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.unsubscribe();
    clearInterval(this.timers[0]);
    await Promise.allSettled(this.running.keys());
    clearInterval(this.timers[1]); // claims are renewed until then, so that no other server sends the same deliveries
  }

  private wake(organizationId: string, destinationId: string): void {
    void this.fill(this.lanes.markPending(organizationId, destinationId));
  }

  private async sweep(): Promise<void> {
    try {
      for (const { organizationId, destinationId } of await this.options.database.dueDestinations())
        this.wake(organizationId, destinationId);
    } catch (error) {
      this.warn(error, "due deliveries were not found");
    }
  }

  /** Claims as many deliveries as the limits allow; one claim at a time per lane. */
  private async fill(lane: Lane): Promise<void> {
    if (lane.filling || this.stopped) return;
    lane.filling = true;
    try {
      while (this.lanes.isPending(lane) && !this.stopped) {
        const capacity = this.lanes.capacity(lane);
        if (capacity < this.lanes.minimumClaim(lane)) break; // stays pending: the next finished delivery fills it again
        this.lanes.clearPending(lane);
        const scope = this.scope(lane); // shared by the claims, so that their events are read in one query
        const claims = await scope
          .of(Deliveries)
          .claim(lane.destinationId, capacity, this.options.takeoverMs);
        if (claims.length === capacity) this.lanes.markPending(lane.organizationId, lane.destinationId);
        for (const claim of claims)
          if (claim.attempt - claim.recordedAttempts > MAX_DEATHS) await this.giveUp(scope, claim);
          else this.start(scope, lane, claim);
      }
    } catch (error) {
      this.warn(error, "deliveries were not claimed");
    } finally {
      lane.filling = false;
      this.lanes.release(lane);
    }
  }

  /** Gives up a delivery whose every attempt ended with the death of the server. */
  private async giveUp(scope: Scope, claim: Claim): Promise<void> {
    if (!(await scope.of(Deliveries).abandon(claim))) return;
    const { logger, countGivenUp } = this.options;
    logger.error(
      { deliveryId: claim.id, deaths: claim.attempt - claim.recordedAttempts - 1 },
      "a delivery was given up",
    );
    countGivenUp("webhook.deliver");
  }

  private start(scope: Scope, lane: Lane, claim: Claim): void {
    this.lanes.start(lane);
    const startedAt = performance.now();
    const { outbound, webhookTimeoutMs } = this.options;
    const work = send(scope, outbound, claim, webhookTimeoutMs)
      .then(({ outcome }) => ({
        timedOut: outcome.kind === "failed" && outcome.timedOut,
        lastAnswerMs: outcome.kind === "answered" ? performance.now() - startedAt : undefined,
      }))
      .catch((error: unknown) => this.warn(error, "a delivery was not recorded"))
      .then((result) => {
        this.running.delete(work);
        this.lanes.finish(lane, result ?? undefined);
        for (const pending of this.lanes.pending()) void this.fill(pending);
      });
    this.running.set(work, { lane, claim });
  }

  /** Renews the claims of deliveries in flight. */
  private async renew(): Promise<void> {
    const { database, takeoverMs } = this.options;
    const claims = new Map<string, Claim[]>();
    for (const { lane, claim } of this.running.values()) {
      const { organizationId } = lane;
      claims.set(organizationId, [...(claims.get(organizationId) ?? []), claim]);
    }
    for (const [organizationId, own] of claims)
      await database
        .scope(organizationId)
        .of(Deliveries)
        .renew(own, takeoverMs)
        .catch((error: unknown) => this.warn(error, "claims were not renewed"));
  }

  private warn(error: unknown, message: string): void {
    this.options.logger.warn({ err: error }, message);
  }

  private scope({ organizationId }: Lane): Scope {
    return this.options.database.scope(organizationId);
  }
}
