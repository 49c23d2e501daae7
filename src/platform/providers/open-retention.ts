import type { Config } from "../settings/config";
import type { Ports } from "../ports/ports";

/** Default retention from the settings. */
export const openRetention = (config: Config): Ports["retention"] => ({
  LOGS: config.LOG_RETENTION_DAYS ?? null,
  RECORDINGS: config.RECORDING_RETENTION_DAYS ?? null,
  EVENTS: config.EVENT_RETENTION_DAYS,
  noticeDays: config.RETENTION_NOTICE_DAYS,
});
