/**
 * The database's clock, which all servers share: a server's own clock may be hours off. Between two measurements the
 * process's monotonic clock continues it, so a change of the system time has no effect.
 */
let origin = Date.now() - performance.now();

/** Measurements with a longer round trip are dropped once there is a better one. */
const MAX_ROUND_TRIP_MS = 1_000;
let measured = false;

/** The database's time in milliseconds since 1970. */
export const currentTime = (): number => Math.floor(origin + performance.now());

/** The database's time plus `offsetMs` milliseconds. */
export const currentDate = (offsetMs = 0): Date => new Date(currentTime() + offsetMs);

/** Lead of the process's clock over the database's, in milliseconds; negative if it is behind. */
export const clockDifference = (): number => Date.now() - currentTime();

/** Measures the offset of the database's clock. @param readClock reads the database's clock */
export async function measureClock(readClock: () => Promise<Date>): Promise<void> {
  const started = performance.now();
  const databaseTime = await readClock();
  const ended = performance.now();
  if (measured && ended - started > MAX_ROUND_TRIP_MS) return;
  origin = databaseTime.getTime() - (started + ended) / 2;
  measured = true;
}
