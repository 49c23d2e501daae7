import { clockDifference, measureClock } from "../clock";
import type { Database } from "./database";

const EVERY_MS = 60_000;
/** A server whose clock differs more from the database's is not ready, in milliseconds. */
const MOST_DIFFERENCE_MS = 60_000;

/** Whether the server's own clock is near the database's. */
const inOrder = (): boolean => Math.abs(clockDifference()) <= MOST_DIFFERENCE_MS;

/** For readiness. */
export const clockHealth = (): Promise<"ok" | "off"> => Promise.resolve(inOrder() ? "ok" : "off");

interface Warns {
  warn(object: object, message: string): void;
}

/** Measures the database's clock now and every minute; warns while the server's own is far off. */
export async function watchClock(
  database: Pick<Database, "time">,
  logger: Warns,
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
      logger.warn({ err: error }, "the database's clock was not read"),
    );
  const timer = setInterval(again, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
