const tails = new Map<string, Promise<unknown>>();

/**
 * Runs what is asked for under one key one after another, in this process. The database would keep the order too, but
 * each that waits for a row there holds a connection, and others would find none.
 */
export async function oneAtATime<R>(key: string, work: () => Promise<R>): Promise<R> {
  const before = tails.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  tails.set(key, mine);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === mine) tails.delete(key);
  }
}
