import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ROOT } from "../root";
import type { CheckAnswer, CheckQuestion } from "../ports/argument-checker";

/**
 * Why there is no answer. `slow`: the check took too much time or memory. `busy`: too many checks are waiting.
 * `elsewhere`: an earlier check of the organization was slow, and this lane no longer serves it.
 */
export type NoAnswer = "slow" | "busy" | "elsewhere";

export interface LaneLimits {
  /** Longest time of one check. */
  readonly deadlineMs: number;
  /** Longest wait for a check's turn. */
  readonly waitMs: number;
  /** Limits for the length of all waiting questions, per organization and in total. */
  readonly ownCharacters: number;
  readonly allCharacters: number;
}

interface WaitingCheck {
  readonly question: CheckQuestion;
  readonly size: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: CheckAnswer | NoAnswer) => void;
}

const PROGRAM = join(ROOT, "dist/src/platform/checker/main.js");
const MEMORY_MB = 128;
/** Added to the length of each question, so that short ones are limited, too. */
const QUESTION_CHARACTERS = 1_000;

/** A thread that answers one question at a time, organizations in turn. A thread that exceeds the deadline is replaced. */
export class CheckLane {
  /** Queues by organization; the first organization has the next turn. */
  private readonly queues = new Map<string, WaitingCheck[]>();
  private size = 0;
  private worker: Promise<Worker> | undefined;
  private busy = false;
  private closed = false;

  /** @param keepsSlow whether the lane still serves an organization after a slow check */
  constructor(
    private readonly limits: LaneLimits,
    private readonly keepsSlow: boolean,
  ) {}

  ask(organizationId: string, question: CheckQuestion): Promise<CheckAnswer | NoAnswer> {
    const size = question.schema.length + (question.args?.length ?? 0) + QUESTION_CHARACTERS;
    const queue = this.queues.get(organizationId) ?? [];
    const own = queue.reduce((sum, waiting) => sum + waiting.size, size);
    const { ownCharacters, allCharacters, waitMs } = this.limits;
    if (own > ownCharacters || this.size + size > allCharacters) return Promise.resolve("busy");
    return new Promise((resolve) => {
      const waiting: WaitingCheck = {
        ...{ question, size, resolve },
        timer: setTimeout(() => {
          this.remove(organizationId, waiting);
          resolve("busy");
        }, waitMs),
      };
      queue.push(waiting);
      this.queues.set(organizationId, queue);
      this.size += size;
      void this.work();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await (await this.worker?.catch(() => undefined))?.terminate();
  }

  private remove(organizationId: string, waiting: WaitingCheck): void {
    const queue = (this.queues.get(organizationId) ?? []).filter((one) => one !== waiting);
    this.queues.delete(organizationId); // moves the organization to the end
    if (queue.length > 0) this.queues.set(organizationId, queue);
    this.size -= waiting.size;
    clearTimeout(waiting.timer);
  }

  private async work(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    for (let next = this.first(); next && !this.closed; next = this.first()) {
      const [organizationId, waiting] = next;
      this.remove(organizationId, waiting);
      const answer = await this.answer(waiting.question);
      waiting.resolve(answer);
      if (answer === "slow" && !this.keepsSlow) this.turnAway(organizationId);
    }
    this.busy = false;
  }

  private turnAway(organizationId: string): void {
    for (const waiting of this.queues.get(organizationId) ?? []) {
      this.remove(organizationId, waiting);
      waiting.resolve("elsewhere");
    }
  }

  private first(): [string, WaitingCheck] | undefined {
    for (const [organizationId, [waiting]] of this.queues) return [organizationId, waiting!];
    return undefined;
  }

  /** Answers a question. A thread that exits by itself has run out of memory, which counts as slow. */
  private async answer(question: CheckQuestion): Promise<CheckAnswer | NoAnswer> {
    const worker = await (this.worker ??= startWorker()).catch(() => undefined);
    if (!worker) return ((this.worker = undefined), "busy");
    const answer = await new Promise<CheckAnswer | "slow">((resolve) => {
      const timer = setTimeout(() => resolve("slow"), this.limits.deadlineMs);
      const finish = (answer: CheckAnswer | "slow") => {
        clearTimeout(timer);
        resolve(answer);
      };
      worker.once("message", finish);
      worker.once("exit", () => finish("slow"));
      worker.postMessage(question);
    });
    worker.removeAllListeners("message");
    worker.removeAllListeners("exit");
    if (answer === "slow") {
      this.worker = undefined;
      await worker.terminate();
    }
    return answer;
  }
}

/** Resolves when the thread has loaded its program; loading does not count towards the deadline. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(PROGRAM, {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once("message", () => {
      worker.removeAllListeners("exit");
      resolve(worker);
    });
    worker.on("error", () => undefined); // the exit event follows
    worker.once("exit", () => reject(new Error("The thread that checks arguments did not start.")));
  });
}
