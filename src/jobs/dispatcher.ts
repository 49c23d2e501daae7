import type { Logger } from "pino";
import type { Database } from "../database/database";
import type { Listener } from "../database/listener";
import { DELIVERIES_CHANNEL } from "../events/events";
import type { Outbound } from "../outbound/http";
import { Deliveries, type Claim } from "../webhooks/deliveries";
import { send } from "../webhooks/send";

/** Most deliveries in flight: in this process, for one organization, to one destination, to all that hang. */
const MOST = { process: 64, organization: 8, destination: 2, quickDestination: 16, slow: 8 } as const;
/** A destination is quick while its last answer took less than this, in milliseconds. */
const QUICK = 1_000;
/** How often due retries and what dead servers left are looked for, in milliseconds. */
const SWEEP = 1_000;

interface Lane {
  readonly organizationId: string;
  readonly destinationId: string;
  inFlight: number;
  /** Milliseconds that the last answer took; undefined when there was none. */
  lastAnswer: number | undefined;
  timedOut: boolean;
  filling: boolean;
  /** Something may be waiting for it. */
  rung: boolean;
}

/**
 * Sends what is due, wherever it was written. A notification wakes the destination's lane; a sweep finds retries that
 * have come due, and claims of servers that died. State lives in the deliveries alone.
 *
 * A job for each delivery was the first thought; all jobs of one destination would then wait in a worker's slots
 * while it hangs, and a shared job key would let transactions of one organization wait for each other.
 */
export class Dispatcher {
  private readonly lanes = new Map<string, Lane>();
  private readonly running = new Set<Promise<void>>();
  private readonly silence: () => void;
  private readonly timer: NodeJS.Timeout;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly outbound: Outbound,
    listener: Pick<Listener, "on">,
    private readonly logger: Logger,
  ) {
    this.silence = listener.on(DELIVERIES_CHANNEL, (ids) =>
      this.wake(ids.organizationId!, ids.destinationId!),
    );
    this.timer = setInterval(() => void this.sweep(), SWEEP).unref();
  }

  /** Claims nothing more and waits for what is in flight. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.silence();
    clearInterval(this.timer);
    await Promise.allSettled(this.running);
  }

  private wake(organizationId: string, destinationId: string): void {
    const known = this.lanes.get(destinationId);
    const lane = known ?? {
      organizationId,
      destinationId,
      inFlight: 0,
      lastAnswer: undefined,
      timedOut: false,
      filling: false,
      rung: false,
    };
    this.lanes.set(destinationId, lane);
    lane.rung = true;
    void this.fill(lane);
  }

  private async sweep(): Promise<void> {
    try {
      for (const { organizationId, destinationId } of await this.database.dueDestinations())
        this.wake(organizationId, destinationId);
    } catch (error) {
      this.logger.warn({ err: error }, "due deliveries were not found");
    }
  }

  /** Claims as much as the limits leave room for; one claim at a time for a lane. */
  private async fill(lane: Lane): Promise<void> {
    if (lane.filling || this.stopped) return;
    lane.filling = true;
    try {
      while (lane.rung && !this.stopped) {
        const room = this.room(lane);
        if (room <= 0) break; // rung stays: whoever finishes fills it again
        lane.rung = false;
        const claims = await this.scope(lane).of(Deliveries).claim(lane.destinationId, room);
        if (claims.length === room) lane.rung = true;
        for (const claim of claims) this.start(lane, claim);
      }
    } catch (error) {
      this.logger.warn({ err: error }, "deliveries were not claimed");
    } finally {
      lane.filling = false;
    }
  }

  private start(lane: Lane, claim: Claim): void {
    lane.inFlight++;
    const began = Date.now();
    const work = send(this.scope(lane), this.outbound, claim)
      .then(({ outcome }) => {
        lane.timedOut = outcome.kind === "failed" && outcome.timedOut;
        lane.lastAnswer = outcome.kind === "answered" ? Date.now() - began : undefined;
      })
      .catch((error: unknown) => this.logger.warn({ err: error }, "a delivery was not recorded"))
      .finally(() => {
        lane.inFlight--;
        this.running.delete(work);
        lane.rung = true; // the next event of its chat may have waited for this one
        for (const other of this.lanes.values()) if (other.rung) void this.fill(other);
      });
    this.running.add(work);
  }

  private room(lane: Lane): number {
    const lanes = [...this.lanes.values()];
    const sum = (chosen: readonly Lane[]) => chosen.reduce((total, { inFlight }) => total + inFlight, 0);
    const { lastAnswer } = lane;
    const own = lastAnswer !== undefined && lastAnswer < QUICK ? MOST.quickDestination : MOST.destination;
    const limits = [
      own - lane.inFlight,
      MOST.organization -
        sum(
          lanes.filter(
            ({ organizationId, timedOut }) =>
              organizationId === lane.organizationId && timedOut === lane.timedOut,
          ),
        ),
      MOST.process - sum(lanes),
    ];
    if (lane.timedOut) limits.push(MOST.slow - sum(lanes.filter(({ timedOut }) => timedOut)));
    return Math.min(...limits);
  }

  private scope({ organizationId }: Lane) {
    return this.database.scope(organizationId);
  }
}
