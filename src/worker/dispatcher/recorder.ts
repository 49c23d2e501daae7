import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { DeliveryQueues, type QueueStep, type StepOutcome } from "../../events/webhooks/queues";
import type { Scope } from "../../platform/database/scope";

/** The outcome of a step, and a scope that the steps stored together share, so that their reads are sent together. */
export type Advanced = StepOutcome & { readonly scope: Scope };

interface WaitingStep {
  readonly step: QueueStep;
  readonly resolve: (advanced: Advanced) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Pause between two statements of an organization, in ms. Each statement costs more than what it stores: at full load, posts
 * are 72 to 78 % of those without a destination, instead of 66 to 70 (`npm run bench -- deliveries`).
 */
const PAUSE_MS = 10;
/** Pause before a step that could not be stored is tried again, in ms. */
const RETRY_PAUSE_MS = 1_000;

/**
 * Stores what happened to deliveries: one statement at a time per organization, with everything that happened during
 * the last one and a short pause. So a result is stored at once while little happens, and many share a commit under load.
 */
export class Recorder {
  private readonly waiting = new Map<string, WaitingStep[]>();

  constructor(
    private readonly scopeOf: (organizationId: string) => Scope,
    private readonly leaseMs: number,
    private readonly isStopping: () => boolean,
  ) {}

  /**
   * Stores a step. What PostgreSQL refuses for a time, as while its disk is full or a table is locked, is tried again as long as
   * a claim lasts: otherwise the conversation would wait until its claim expires, and the delivery would be sent again.
   */
  async advance(organizationId: string, step: QueueStep): Promise<Advanced> {
    const until = performance.now() + this.leaseMs;
    for (;;)
      try {
        return await this.once(organizationId, step);
      } catch (error) {
        if (this.isStopping() || performance.now() > until) throw error;
        await sleep(RETRY_PAUSE_MS);
      }
  }

  private once(organizationId: string, step: QueueStep): Promise<Advanced> {
    return new Promise((resolve, reject) => {
      const one = { step, resolve, reject };
      const others = this.waiting.get(organizationId);
      if (others) return void others.push(one);
      this.waiting.set(organizationId, [one]);
      void this.run(organizationId);
    });
  }

  private async run(organizationId: string): Promise<void> {
    for (;;) {
      await nextRound(); // answers that arrived together are recorded together
      const steps = this.waiting.get(organizationId)!;
      if (steps.length === 0) break;
      this.waiting.set(organizationId, []);
      await this.store(organizationId, steps);
      await sleep(PAUSE_MS);
    }
    this.waiting.delete(organizationId);
  }

  private async store(organizationId: string, steps: readonly WaitingStep[]): Promise<void> {
    const scope = this.scopeOf(organizationId);
    try {
      const all = steps.map(({ step }) => step);
      const outcomes = await scope.of(DeliveryQueues).advance(all, this.leaseMs);
      for (const [index, outcome] of outcomes.entries()) steps[index]!.resolve({ scope, ...outcome });
    } catch (error) {
      // One that cannot be stored must not keep the others from being stored.
      if (steps.length > 1) for (const one of steps) await this.store(organizationId, [one]);
      else steps[0]!.reject(error);
    }
  }
}
