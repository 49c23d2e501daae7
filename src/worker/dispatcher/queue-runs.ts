import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { EventBodies, type ChatReader } from "../../events/events/bodies";
import { canceledResult, DISABLED, NOT_COMPOSABLE, type AttemptResult } from "../../events/webhooks/attempts";
import { Deliveries } from "../../events/webhooks/deliveries";
import { WebhookDestinations, type DeliveryTarget } from "../../events/webhooks/destinations";
import {
  DeliveryQueues,
  type BegunDelivery,
  type ClaimedQueue,
  type Queue,
} from "../../events/webhooks/queues";
import { send, type Attempt } from "../../events/webhooks/send";
import { currentTime } from "../../platform/clock";
import { timeOf } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { groupBy } from "../../platform/group-by";
import { MAX_DEATHS } from "../../platform/jobs/free-jobs";
import type { Outbound, Outcome } from "../../platform/outbound/http";
import type { AttemptOutcome, WorkReports } from "../../platform/ports/work-reports";
import type { Lane, Lanes } from "./lanes";
import { Recorder } from "./recorder";

export interface RunOptions {
  readonly lanes: Lanes;
  readonly scopeOf: (organizationId: string) => Scope;
  readonly outbound: Outbound;
  readonly logger: Logger;
  /** A claim expires after this time unless it is renewed; another server then sends the delivery. */
  readonly takeoverMs: number;
  /** Longest time for a receiver's answer. */
  readonly webhookTimeoutMs: number;
  /** `countGivenUp` counts deliveries that were given up because servers died while sending them. */
  readonly reports: Pick<WorkReports, "countGivenUp" | "countAttempt">;
  /** Called when a queue has ended, which leaves room for others. */
  readonly ended: () => void;
  readonly isStopping: () => boolean;
}

/** A queue that this process has, and a scope that queues taken at about the same time share. */
export interface Taken {
  readonly scope: Scope;
  readonly queue: ClaimedQueue;
}

/** A queue whose deliveries are being sent. */
interface Run extends ChatReader {
  readonly lane: Lane;
  readonly queue: ClaimedQueue;
  /** The delivery in flight. */
  delivery: BegunDelivery | undefined;
}

/** The result of a delivery, with its attempt unless it was canceled. */
interface Tried {
  readonly result: AttemptResult;
  readonly attempt?: Attempt;
}

/** Name of deliveries among the tasks whose jobs are given up. */
export const DELIVERY_TASK = "webhook.deliver";
/** Deliveries of a queue that are sent before other queues have their turn. */
const BATCH_SIZE = 16;
/** A delivery that has waited for longer is read again, with its destination and its conversation: all may have changed. */
const FRESH_MS = 250;
/** Pause before another attempt to give back a queue that a transaction was adding to. */
const RELEASE_PAUSE_MS = 20;

/** Sends the deliveries of queues that this process has, one after another in each queue. */
export class QueueRuns {
  private readonly working = new Set<Promise<void>>();
  private readonly running = new Set<Run>();
  private readonly recorder: Recorder;

  constructor(private readonly options: RunOptions) {
    this.recorder = new Recorder(options.scopeOf, options.takeoverMs, options.isStopping);
  }

  /** Sends what is in a queue. Until it is known, its place is held. @param taken resolves to undefined if there is none */
  start(lane: Lane, taken: Taken | Promise<Taken | undefined>): void {
    const { lanes, logger, ended } = this.options;
    lanes.start(lane);
    const work = this.run(lane, taken)
      .then((isDue) => isDue && lanes.markPending(lane.organizationId, lane.destinationId))
      .catch((error: unknown) => logger.warn({ err: error }, "a delivery was not recorded"))
      .then(() => {
        this.working.delete(work);
        lanes.finish(lane);
        lanes.release(lane);
        ended();
      });
    this.working.add(work);
  }

  /** Resolves when all queues that have been started have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.working);
  }

  /** Renews the claims of queues and deliveries in flight. */
  async renew(): Promise<void> {
    const { scopeOf, takeoverMs, logger } = this.options;
    for (const [organizationId, runs] of groupBy(this.running, ({ lane }) => lane.organizationId)) {
      const claims = runs.map(({ queue, delivery }) => {
        const { first: _, ...key } = queue;
        return { ...key, id: delivery?.id ?? null, attempt: delivery?.attempt ?? null };
      });
      await scopeOf(organizationId)
        .of(DeliveryQueues)
        .renew(claims, takeoverMs)
        .catch((error: unknown) => logger.warn({ err: error }, "claims were not renewed"));
    }
  }

  /** @returns whether more of the queue are due */
  private async run(lane: Lane, taken: Taken | Promise<Taken | undefined>): Promise<boolean> {
    const known = await taken;
    if (!known) return false;
    const { queue, scope } = known;
    const run: Run = { lane, queue, delivery: queue.first };
    this.running.add(run);
    try {
      return await this.sendAll(run, scope);
    } finally {
      this.running.delete(run);
    }
  }

  /** Sends the deliveries of a queue until one fails or others need the place. @returns whether more of it are due */
  private async sendAll(run: Run, claimScope: Scope): Promise<boolean> {
    const { lane, queue } = run;
    let scope = claimScope;
    for (let sent = 1; run.delivery; sent++) {
      if (isHopeless(run.delivery)) {
        await this.giveUp(scope, run.delivery);
        break;
      }
      const tried = await this.try(scope, run.delivery, run);
      if (!tried) {
        await scope.of(DeliveryQueues).putBack(queue, run.delivery);
        return true;
      }
      const { result, attempt } = tried;
      const goesOn = result.status === "DELIVERED" || !attempt;
      const continues = goesOn && sent < BATCH_SIZE && this.continues(lane);
      const step = { queue, result, continues, releases: goesOn };
      const advanced = await this.recorder.advance(lane.organizationId, step);
      ({ scope } = advanced);
      if (attempt && advanced.status !== undefined) await recordOutcome(scope, queue, attempt);
      if (advanced.released) return advanced.isDue;
      run.delivery = advanced.begun;
    }
    return this.giveBack(run);
  }

  /** Sends a delivery once its turn has come. @returns undefined if the queue is to be given back instead */
  private async try(scope: Scope, delivery: BegunDelivery, run: Run): Promise<Tried | undefined> {
    const { lanes, scopeOf } = this.options;
    const waitsFrom = performance.now();
    if (!(await lanes.begin(run.lane))) return undefined;
    const isLate = performance.now() - waitsFrom > FRESH_MS;
    try {
      if (!isLate) return await this.sendOrCancel(scope, delivery, run);
      const fresh = scopeOf(scope.organizationId);
      // Without effect if the delivery has been erased, or another server has taken it over.
      if (!(await fresh.of(Deliveries).isBegun(delivery)))
        return { result: canceledResult(delivery, NOT_COMPOSABLE) };
      return await this.sendOrCancel(fresh, delivery, run, false);
    } finally {
      lanes.end(run.lane);
    }
  }

  /** Sends a delivery, or cancels it if its destination is disabled or gone, or its body can no longer be composed. */
  private async sendOrCancel(
    scope: Scope,
    delivery: BegunDelivery,
    run: Run,
    mayBeOld = true,
  ): Promise<Tried> {
    const target = await scope.of(WebhookDestinations).target(run.lane.destinationId);
    if (!target?.enabled) return { result: canceledResult(delivery, DISABLED) };
    const bodies = scope.of(EventBodies);
    const { event } = delivery;
    const body = await bodies.of(event, run, mayBeOld);
    if (body === undefined) return { result: canceledResult(delivery, NOT_COMPOSABLE) };
    // An attempt that nobody has recorded may have reached the destination.
    if (event.body === null && delivery.attempt > 1) await bodies.store(event.id, body);
    const attempt = await this.send(delivery, body, target, run.lane);
    return { result: attempt.result, attempt };
  }

  private async send(delivery: BegunDelivery, body: string, target: DeliveryTarget, lane: Lane) {
    const { outbound, webhookTimeoutMs, lanes, reports } = this.options;
    const age = (currentTime() - timeOf(delivery.id)) / 1_000;
    const began = performance.now();
    const attempt = await send(outbound, target, delivery, body, webhookTimeoutMs);
    const { outcome } = attempt;
    reports.countAttempt(nameOf(outcome), delivery.attempt === 1 ? Math.max(0, age) : undefined);
    const state = {
      timedOut: outcome.kind === "failed" && outcome.timedOut,
      lastAnswerMs: outcome.kind === "answered" ? performance.now() - began : undefined,
    };
    lanes.note(lane, state, delivery.event);
    return attempt;
  }

  /** Whether the next delivery of the queue may be sent at once. */
  private continues(lane: Lane): boolean {
    return !this.options.isStopping() && this.options.lanes.capacity(lane) >= 0;
  }

  /** Gives a queue back; waits for transactions that are adding to it. @returns whether something in it is due */
  private async giveBack({ lane, queue }: Run): Promise<boolean> {
    const until = performance.now() + this.options.takeoverMs;
    for (;;) {
      const { released, isDue } = await this.recorder.advance(lane.organizationId, {
        ...{ queue, continues: false, releases: true },
      });
      if (released || performance.now() > until) return isDue;
      await sleep(RELEASE_PAUSE_MS);
    }
  }

  /** Gives up a delivery whose every attempt ended with the death of the server. */
  private async giveUp(scope: Scope, { id, attempt, recordedAttempts }: BegunDelivery): Promise<void> {
    if (!(await scope.of(Deliveries).abandon({ id, attempt }))) return;
    const { logger, reports } = this.options;
    logger.error({ deliveryId: id, deaths: attempt - recordedAttempts - 1 }, "a delivery was given up");
    reports.countGivenUp(DELIVERY_TASK);
  }
}

async function recordOutcome(scope: Scope, { destinationId }: Queue, attempt: Attempt): Promise<void> {
  const { outcome, result, target } = attempt;
  const succeeded = result.status === "DELIVERED";
  await scope.of(WebhookDestinations).recordOutcome(destinationId, outcome, succeeded, target.failingSince);
}

function nameOf(outcome: Outcome): AttemptOutcome {
  if (outcome.kind === "failed") return outcome.timedOut ? "timeout" : "unreachable";
  return outcome.status >= 200 && outcome.status < 300 ? "delivered" : "refused";
}

const isHopeless = ({ attempt, recordedAttempts }: BegunDelivery): boolean =>
  attempt - recordedAttempts > MAX_DEATHS;
