import type { PoolClient } from "pg";

/** How long an answer is waited for, in milliseconds: behind the server's own timeout, for a server that hangs or is cut off and so keeps none. */
const LONGEST = 8_000;
const LOOK = 1_000;

interface Wait {
  count: number;
  since: number;
}

const waits = new Map<PoolClient, Wait>();

/**
 * Waits for what a connection is asked, and cuts it off when nothing comes. One timer looks after all of them: pg's
 * own for each statement makes the collector carry along all that the statement brought.
 */
export async function patiently<R>(connection: PoolClient, ask: () => Promise<R>): Promise<R> {
  const wait = waits.get(connection) ?? { count: 0, since: 0 };
  if (wait.count++ === 0) wait.since = performance.now();
  waits.set(connection, wait);
  try {
    return await ask();
  } finally {
    wait.since = performance.now();
    if (--wait.count === 0) waits.delete(connection);
  }
}

setInterval(() => {
  const limit = performance.now() - LONGEST;
  for (const [connection, { since }] of waits) if (since < limit) cutOff(connection);
}, LOOK).unref();

function cutOff(connection: PoolClient): void {
  const { stream } = (connection as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy(); // pg's types don't show it; whoever waits is told that the connection was terminated
}
