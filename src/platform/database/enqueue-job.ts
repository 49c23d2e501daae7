import type { Knex } from "knex";

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

/** Enqueues a job with the transaction of `db`. */
export async function enqueueJob(
  db: Knex,
  task: string,
  payload: object,
  { queue, runAt, key, attempts = MAX_ATTEMPTS }: JobOptions = {},
): Promise<void> {
  await db.raw("select parley_enqueue(?, ?::json, ?, ?, ?, ?)", [
    task,
    JSON.stringify(payload),
    queue ?? null,
    runAt ?? null,
    key ?? null,
    attempts,
  ]);
}
