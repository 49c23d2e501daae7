import { clockDifference, measureClock } from "../clock";
import type { Database } from "./database";

const EVERY_MS = 60_000;
/** Largest difference between the clocks of a ready server and the database. */
const MAX_DIFFERENCE_MS = 60_000;

/** Whether the server's clock is close enough to the database's. */
const inOrder = (): boolean => Math.abs(clockDifference()) <= MAX_DIFFERENCE_MS;

/** The readiness check of the clock. */
export const clockHealth = (): Promise<"ok" | "off"> => Promise.resolve(inOrder() ? "ok" : "off");

interface WarningLogger {
  warn(object: object, message: string): void;
}

/** Compares the clocks now and every minute; warns while the difference is too large. */
export async function watchClock(
  database: Pick<Database, "time">,
  logger: WarningLogger,
): Promise<{ readonly stop: () => void }> {
  const measure = async () => {
    await measureClock(() => database.time());
    if (inOrder()) return;
    const seconds = Math.round(clockDifference() / 1_000);
    logger.warn(
      { clockDifferenceSeconds: seconds },
      `This server's clock differs from the database's by ${seconds} s. Set it right (NTP): until then the server is not ready.`,
    );
  };
  await measure();
  const again = () =>
    void measure().catch((error: unknown) =>
      logger.warn({ err: error }, "could not read the database's clock"),
    );
  const timer = setInterval(again, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
