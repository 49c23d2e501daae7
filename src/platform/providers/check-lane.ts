import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { CheckAnswer, CheckQuestion } from "../ports/argument-checker";

/**
 * Why there is no answer: it took too long, or too much memory; too many were waiting; or an earlier check of the same
 * organization took too long, and this lane is for others.
 */
export type NoAnswer = "slow" | "busy" | "elsewhere";

export interface LaneLimits {
  /** Longest time of one check, in ms. */
  readonly deadline: number;
  /** Longest wait for a check's turn, in ms. */
  readonly wait: number;
  /** Most characters waiting for one organization, and for all together. */
  readonly ownCharacters: number;
  readonly allCharacters: number;
}

interface Waiting {
  readonly question: CheckQuestion;
  readonly size: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: CheckAnswer | NoAnswer) => void;
}

const PROGRAM = join(__dirname, "..", "checker", "main.js");
const MEMORY_MB = 128;
/** Counts for each question beside its text. */
const QUESTION_CHARACTERS = 1_000;

/** One thread that answers one question at a time, organizations in turn. It is replaced when it exceeds the deadline. */
export class CheckLane {
  /** By organization; the next turn is the first one's. */
  private readonly queues = new Map<string, Waiting[]>();
  private size = 0;
  private worker: Promise<Worker> | undefined;
  private busy = false;
  private closed = false;

  /** @param keepsSlow whether an organization stays in the lane after a check that was too slow */
  constructor(
    private readonly limits: LaneLimits,
    private readonly keepsSlow: boolean,
  ) {}

  ask(organizationId: string, question: CheckQuestion): Promise<CheckAnswer | NoAnswer> {
    const size = question.schema.length + (question.args?.length ?? 0) + QUESTION_CHARACTERS;
    const queue = this.queues.get(organizationId) ?? [];
    const own = queue.reduce((sum, waiting) => sum + waiting.size, size);
    const { ownCharacters, allCharacters, wait } = this.limits;
    if (own > ownCharacters || this.size + size > allCharacters) return Promise.resolve("busy");
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ...{ question, size, resolve },
        timer: setTimeout(() => {
          this.remove(organizationId, waiting);
          resolve("busy");
        }, wait),
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

  private remove(organizationId: string, waiting: Waiting): void {
    const queue = (this.queues.get(organizationId) ?? []).filter((one) => one !== waiting);
    this.queues.delete(organizationId); // behind the others
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

  private first(): [string, Waiting] | undefined {
    for (const [organizationId, [waiting]] of this.queues) return [organizationId, waiting!];
    return undefined;
  }

  /** A thread that ends by itself has run out of memory. */
  private async answer(question: CheckQuestion): Promise<CheckAnswer | NoAnswer> {
    const worker = await (this.worker ??= startWorker()).catch(() => undefined);
    if (!worker) return ((this.worker = undefined), "busy");
    const answer = await new Promise<CheckAnswer | "slow">((resolve) => {
      const timer = setTimeout(() => resolve("slow"), this.limits.deadline);
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

/** Resolves once the thread has loaded its program, which counts against no deadline. */
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
    worker.on("error", () => undefined); // its exit tells
    worker.once("exit", () => reject(new Error("The thread that checks arguments did not start.")));
  });
}
