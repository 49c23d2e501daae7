import type { Job, JobHelpers, Task, TaskList } from "graphile-worker";

/**
 * Places that organizations share fairly: each may hold as many as are free. One alone gets half of them, and of many
 * that would take all of them each finds some.
 */
export class Shares {
  private readonly held = new Map<string, number>();

  constructor(private free: number) {}

  /** Takes a place. @returns what gives it back; undefined while the organization holds its share */
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
      const left = this.held.get(organizationId)! - 1; // the place is one of these
      if (left === 0) this.held.delete(organizationId);
      else this.held.set(organizationId, left);
    };
  }

  /** The organizations that hold their share. */
  full(): string[] {
    return [...this.held].filter(([, held]) => held >= this.free).map(([organizationId]) => organizationId);
  }
}

const flagOf = (organizationId: string) => `organization:${organizationId}`;

/** What a runner of the library needs to share its places: the tasks, and which jobs it leaves alone for now. */
export function shared(tasks: TaskList, places: number) {
  const shares = new Shares(places);
  const fair = Object.entries(tasks).map(([name, task]) => [name, sharing(shares, name, task!)] as const);
  return {
    taskList: Object.fromEntries(fair) as TaskList,
    forbiddenFlags: () => shares.full().map(flagOf),
  };
}

const sharing =
  (shares: Shares, name: string, task: Task): Task =>
  async (payload, helpers) => {
    const { organizationId } = payload as { organizationId: string }; // as Scope.owned made it
    const leave = shares.take(organizationId);
    if (!leave) return defer(name, payload, helpers, flagOf(organizationId));
    try {
      return await task(payload, helpers);
    } finally {
      leave();
    }
  };

/** Lets a job wait, under a flag by which it is left alone until its organization has room. */
async function defer(name: string, payload: unknown, helpers: JobHelpers, flag: string): Promise<void> {
  const { job } = helpers;
  const queueName = (job.job_queue_id !== null && (await helpers.getQueueName())) || undefined;
  await helpers.addJob(name, payload as never, {
    runAt: new Date(job.run_at),
    maxAttempts: triesLeft(job),
    priority: job.priority,
    flags: [flag],
    ...(job.key !== null && { jobKey: job.key }),
    ...(queueName !== undefined && { queueName }),
  });
}

/** This one was no try: it did nothing. */
const triesLeft = ({ attempts, max_attempts: most }: Job): number => Math.max(1, most - attempts + 1);
