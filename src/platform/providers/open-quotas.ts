import { LRUCache } from "lru-cache";
import type { Config } from "../settings/config";
import type { LookAtUsage, QuotaLimits } from "../ports/ports";

/** Remembered figures of all organizations together. */
const MAX_REMEMBERED = 10_000;

export const openQuotas = (config: Config): QuotaLimits => ({
  storedBytes: config.QUOTA_STORED_BYTES,
  files: config.QUOTA_FILES,
  assistants: config.QUOTA_ASSISTANTS,
  liveChats: config.QUOTA_LIVE_CHATS,
  versions: config.QUOTA_VERSIONS,
  usage: new LRUCache<string, number, LookAtUsage>({
    max: MAX_REMEMBERED,
    ttlResolution: 100, // ms
    ignoreFetchAbort: true, // a transaction may look meanwhile
    async fetchMethod(_key, _stale, { options, context: look }) {
      const seen = await look();
      if (seen) options.ttl = seen.lifetimeMs;
      return seen?.value;
    },
  }),
});
