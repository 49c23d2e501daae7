/** Load of a pool of connections. */
export interface PoolUse {
  readonly used: number;
  readonly idle: number;
  /** Statements that wait for a connection because all are in use. */
  readonly waiting: number;
  /** Largest number of connections. */
  readonly most: number;
}

/** Outcome of an attempt to deliver a webhook; `refused` stands for a status other than 2xx. */
export type AttemptOutcome = "delivered" | "refused" | "timeout" | "unreachable";

/** Tells the operator of background work. */
export interface WorkReports {
  /** Names the tasks that are counted, so that their counts begin at 0. */
  readonly nameTasks: (tasks: readonly string[], periodic: readonly string[]) => void;
  readonly countGivenUp: (task: string) => void;
  /** Counts a failed run of a periodic task, which is never given up: it runs again. */
  readonly countPeriodicFailure: (task: string) => void;
  /** @param firstDelaySeconds age of the delivery, if this was its first attempt */
  readonly countAttempt: (outcome: AttemptOutcome, firstDelaySeconds?: number) => void;
  readonly watchPool: (name: string, use: () => PoolUse) => void;
}
