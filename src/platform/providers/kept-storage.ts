import type { Storage } from "../ports/storage";

/** Wraps a storage: while a backup runs, nothing is removed; the sweep of unused files does it later. */
export const keptStorage = (storage: Storage, backupRuns: () => Promise<boolean>): Storage => ({
  ...storage,
  remove: async (key) => {
    if (!(await backupRuns())) await storage.remove(key);
  },
});
