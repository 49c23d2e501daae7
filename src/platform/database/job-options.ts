/** Default number of attempts of a job, including those of crashed servers. */
export const TRIES = 6;

/** Options of a job. */
export interface JobOptions {
  readonly queue?: string;
  readonly runAt?: Date;
  /** A waiting job with the same key is replaced. */
  readonly key?: string;
  /** Number of attempts; default 6. */
  readonly tries?: number;
}
