import type { Job, JobHelpers, Task, TaskList } from "graphile-worker";

/**
 * Slots that organizations share fairly: each may hold at most as many as are free. One organization alone gets half of
 * all slots, and others always find some.
 */
export class SharedSlots {
  private readonly held = new Map<string, number>();

  constructor(private free: number) {}

  /** Takes a slot. @returns a function that releases it; undefined if the organization already holds its share */
  take(organizationId: string): (() => void) | undefined {
    const held = this.held.get(organizationId) ?? 0;
    if (held >= this.free) return undefined;
    this.held.set(organizationId, held + 1);
    this.free--;
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.free++;
      const left = this.held.get(organizationId)! - 1; // includes this slot
      if (left === 0) this.held.delete(organizationId);
      else this.held.set(organizationId, left);
    };
  }

  /** Organizations that hold their full share. */
  full(): string[] {
    return [...this.held].filter(([, held]) => held >= this.free).map(([organizationId]) => organizationId);
  }
}

const flagOf = (organizationId: string) => `organization:${organizationId}`;

/** Options of a graphile-worker runner that shares its slots fairly: the tasks, and the flags of jobs to skip for now. */
export function fairShares(tasks: TaskList, slots: number) {
  const shares = new SharedSlots(slots);
  const fair = Object.entries(tasks).map(([name, task]) => [name, withShare(shares, name, task!)] as const);
  return {
    taskList: Object.fromEntries(fair) as TaskList,
    forbiddenFlags: () => shares.full().map(flagOf),
  };
}

const withShare =
  (shares: SharedSlots, name: string, task: Task): Task =>
  async (payload, helpers) => {
    const { organizationId } = payload as { organizationId: string }; // set by Scope.owned
    const release = shares.take(organizationId);
    if (!release) return defer(name, payload, helpers, flagOf(organizationId));
    try {
      return await task(payload, helpers);
    } finally {
      release();
    }
  };

/** Requeues a job with a flag that the runner skips until its organization has a free slot. */
async function defer(name: string, payload: unknown, helpers: JobHelpers, flag: string): Promise<void> {
  const { job } = helpers;
  const queueName = (job.job_queue_id !== null && (await helpers.getQueueName())) || undefined;
  await helpers.addJob(name, payload as never, {
    runAt: new Date(job.run_at),
    maxAttempts: attemptsLeft(job),
    priority: job.priority,
    flags: [flag],
    ...(job.key !== null && { jobKey: job.key }),
    ...(queueName !== undefined && { queueName }),
  });
}

/** A deferred attempt does not count. */
const attemptsLeft = ({ attempts, max_attempts: maximum }: Job): number =>
  Math.max(1, maximum - attempts + 1);
