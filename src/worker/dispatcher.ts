import type { Logger } from "pino";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";
import type { Listener } from "../platform/database/listener";
import { DELIVERIES_CHANNEL } from "../events/events/record";
import type { Outbound } from "../platform/outbound/http";
import { Deliveries, type Claim } from "../events/webhooks/deliveries";
import { send } from "../events/webhooks/send";
import { MOST_DEATHS } from "../platform/jobs/free-jobs";
import { Lanes, type Lane } from "./lanes";

export interface DispatcherOptions {
  readonly database: Database;
  readonly outbound: Outbound;
  readonly listener: Pick<Listener, "on">;
  readonly logger: Logger;
  /** After how many milliseconds what this process has claimed is free for others, unless it renews its claims. */
  readonly takeover: number;
  /** How many milliseconds a receiver has for its answer. */
  readonly webhookTimeout: number;
  /** Counts a delivery that was given up as a job. */
  readonly countGivenUp: (task: string) => void;
}

/** How often due retries and what dead servers left are looked for, in milliseconds. */
const SWEEP = 1_000;

/**
 * Sends what is due, wherever it was written. A notification wakes the destination's lane; a sweep finds retries that
 * have come due, and claims of servers that died. State lives in the deliveries alone.
 *
 * A job for each delivery was the first thought; all jobs of one destination would then wait in a worker's slots
 * while it hangs, and a shared job key would let transactions of one organization wait for each other.
 */
export class Dispatcher {
  private readonly lanes = new Lanes();
  private readonly running = new Map<Promise<void>, { readonly lane: Lane; readonly claim: Claim }>();
  private readonly silence: () => void;
  private readonly timers: readonly NodeJS.Timeout[];
  private stopped = false;

  constructor(private readonly options: DispatcherOptions) {
    const { listener, takeover } = options;
    this.silence = listener.on(DELIVERIES_CHANNEL, (ids) =>
      this.wake(ids.organizationId!, ids.destinationId!),
    );
    this.timers = [
      setInterval(() => void this.sweep(), SWEEP).unref(),
      setInterval(() => void this.renew(), takeover / 3).unref(),
    ];
  }

  /** Claims nothing more and waits for what is in flight. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.silence();
    clearInterval(this.timers[0]);
    await Promise.allSettled(this.running.keys());
    clearInterval(this.timers[1]); // till then others keep off what is in flight
  }

  private wake(organizationId: string, destinationId: string): void {
    void this.fill(this.lanes.ring(organizationId, destinationId));
  }

  private async sweep(): Promise<void> {
    try {
      for (const { organizationId, destinationId } of await this.options.database.dueDestinations())
        this.wake(organizationId, destinationId);
    } catch (error) {
      this.warn(error, "due deliveries were not found");
    }
  }

  /** Claims as much as the limits leave room for; one claim at a time for a lane. */
  private async fill(lane: Lane): Promise<void> {
    if (lane.filling || this.stopped) return;
    lane.filling = true;
    try {
      while (this.lanes.isRung(lane) && !this.stopped) {
        const room = this.lanes.room(lane);
        if (room < this.lanes.worthwhile(lane)) break; // it stays rung: whoever finishes fills it again
        this.lanes.hush(lane);
        const scope = this.scope(lane); // one for all of them, so that what they send is read at once
        const claims = await scope.of(Deliveries).claim(lane.destinationId, room, this.options.takeover);
        if (claims.length === room) this.lanes.ring(lane.organizationId, lane.destinationId);
        for (const claim of claims)
          if (claim.attempt - claim.tries > MOST_DEATHS) await this.giveUp(scope, claim);
          else this.start(scope, lane, claim);
      }
    } catch (error) {
      this.warn(error, "deliveries were not claimed");
    } finally {
      lane.filling = false;
      this.lanes.rest(lane);
    }
  }

  /** Each time a server tried it, that server died. */
  private async giveUp(scope: Scope, claim: Claim): Promise<void> {
    if (!(await scope.of(Deliveries).abandon(claim))) return;
    const { logger, countGivenUp } = this.options;
    logger.error(
      { deliveryId: claim.id, deaths: claim.attempt - claim.tries - 1 },
      "a delivery was given up",
    );
    countGivenUp("webhook.deliver");
  }

  private start(scope: Scope, lane: Lane, claim: Claim): void {
    this.lanes.began(lane);
    const began = performance.now();
    const { outbound, webhookTimeout } = this.options;
    const work = send(scope, outbound, claim, webhookTimeout)
      .then(({ outcome }) => ({
        timedOut: outcome.kind === "failed" && outcome.timedOut,
        lastAnswer: outcome.kind === "answered" ? performance.now() - began : undefined,
      }))
      .catch((error: unknown) => this.warn(error, "a delivery was not recorded"))
      .then((tried) => {
        this.running.delete(work);
        this.lanes.ended(lane, tried ?? undefined);
        for (const waiting of this.lanes.waiting()) void this.fill(waiting);
      });
    this.running.set(work, { lane, claim });
  }

  /** Says of what is in flight that it is still being seen to. */
  private async renew(): Promise<void> {
    const { database, takeover } = this.options;
    const claims = new Map<string, Claim[]>();
    for (const { lane, claim } of this.running.values()) {
      const { organizationId } = lane;
      claims.set(organizationId, [...(claims.get(organizationId) ?? []), claim]);
    }
    for (const [organizationId, some] of claims)
      await database
        .scope(organizationId)
        .of(Deliveries)
        .renew(some, takeover)
        .catch((error: unknown) => this.warn(error, "claims were not renewed"));
  }

  private warn(error: unknown, what: string): void {
    this.options.logger.warn({ err: error }, what);
  }

  private scope({ organizationId }: Lane): Scope {
    return this.options.database.scope(organizationId);
  }
}
