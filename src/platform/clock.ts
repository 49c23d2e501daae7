/**
 * The database's time, which all servers share: a server's own clock may be hours off. It is measured and then carried
 * on by the process's monotonic clock, so that a change of the system's time between two measurements has no effect.
 */
let origin = Date.now() - performance.now();

/** Measurements whose round trip took longer, in milliseconds, are dropped once there is a better one. */
const PRECISE_MS = 1_000;
let measured = false;

/** The database's time in milliseconds since 1970. */
export const currentTime = (): number => Math.floor(origin + performance.now());

/** The database's time, `offset` milliseconds later. */
export const currentDate = (offset = 0): Date => new Date(currentTime() + offset);

/** How far the process's clock is ahead of the database's, in milliseconds; negative when it is behind. */
export const clockDifference = (): number => Date.now() - currentTime();

/** @param ask reads the database's clock */
export async function measureClock(ask: () => Promise<Date>): Promise<void> {
  const asked = performance.now();
  const told = await ask();
  const answered = performance.now();
  if (measured && answered - asked > PRECISE_MS) return;
  origin = told.getTime() - (asked + answered) / 2;
  measured = true;
}
