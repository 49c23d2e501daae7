import type { Config } from "../settings/config";
import type { QuotaLimits } from "../ports/ports";

export const openQuotas = (config: Config): QuotaLimits => ({
  storedBytes: config.QUOTA_STORED_BYTES,
  files: config.QUOTA_FILES,
  assistants: config.QUOTA_ASSISTANTS,
  liveChats: config.QUOTA_LIVE_CHATS,
  versions: config.QUOTA_VERSIONS,
  spacious: new Map(),
  sizes: new Map(),
});
