import { setTimeout as sleep } from "node:timers/promises";

/** In times of what the work before it took. */
const REST = 4;
/** A run that has taken this long leaves the rest to the next one: a server may have to end. */
const RUN_MS = 10_000;

/**
 * Rests after a part of a long job, so that the job hardly slows down requests.
 * @param began when the part began, by `performance.now()`
 * @param stop ends the rest
 */
export async function rest(began: number, stop?: AbortSignal): Promise<void> {
  await sleep(REST * (performance.now() - began), undefined, { signal: stop }).catch(() => undefined);
}

/**
 * Does the parts of a long job, with rests.
 * @param next does a part, and returns whether there are more
 * @param stop ends the job after the part at hand
 */
export async function inBatches(next: () => Promise<boolean>, stop?: AbortSignal): Promise<void> {
  while (!stop?.aborted) {
    const began = performance.now();
    if (!(await next())) return;
    await rest(began, stop);
  }
}

/**
 * As `inBatches`, for a run of a job.
 * @returns whether parts are left to another run
 */
export async function inRun(next: () => Promise<boolean>): Promise<boolean> {
  const began = performance.now();
  let isLeft = true;
  await inBatches(async () => {
    isLeft = await next();
    return isLeft && performance.now() - began < RUN_MS;
  });
  return isLeft;
}
