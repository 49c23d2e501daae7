/** How often a job is begun at most, also by servers that die, where nothing else is said. */
export const TRIES = 6;

/** How a job runs. */
export interface JobOptions {
  readonly queue?: string;
  readonly runAt?: Date;
  /** A job that waits under the same key is replaced. */
  readonly key?: string;
  /** How often it is begun at most; 6 without. */
  readonly tries?: number;
}
