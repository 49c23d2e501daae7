const tails = new Map<string, Promise<unknown>>();

/**
 * Runs work with the same key one after another, in this process. A row lock would keep the order too, but every waiter
 * would hold a connection.
 */
export async function runInOrder<R>(key: string, work: () => Promise<R>): Promise<R> {
  const before = tails.get(key) ?? Promise.resolve();
  const result = before.then(work, work);
  tails.set(key, result);
  try {
    return await result;
  } finally {
    if (tails.get(key) === result) tails.delete(key);
  }
}
