/** Default number of attempts of a job; attempts during which a server crashed do not count. */
export const MAX_ATTEMPTS = 6;

/** Options of a job. */
export interface JobOptions {
  readonly queue?: string;
  readonly runAt?: Date;
  /** A waiting job with the same key is replaced. */
  readonly key?: string;
  /** Number of attempts; default 6. */
  readonly attempts?: number;
}
