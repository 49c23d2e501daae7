import type { Storage } from "../ports/storage";

/** Removes nothing while a backup runs: the janitor does it later. */
export const keptStorage = (storage: Storage, backupRuns: () => Promise<boolean>): Storage => ({
  ...storage,
  remove: async (key) => {
    if (!(await backupRuns())) await storage.remove(key);
  },
});
