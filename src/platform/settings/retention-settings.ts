import { z } from "zod";
import { whole } from "./setting-kinds";

const days = () => whole(1, 36_500);

/** For how long things are kept where an organization has not chosen it. */
export const RETENTION_SETTINGS = {
  LOG_RETENTION_DAYS: [
    days().optional(),
    "for ever",
    "Days for which logs are kept after their conversation ended, for organizations that have not chosen.",
  ],
  RECORDING_RETENTION_DAYS: [
    days().optional(),
    "as long as the log",
    "Days for which recordings of calls are kept, for organizations that have not chosen.",
  ],
  EVENT_RETENTION_DAYS: [
    days().default(30),
    "`30`",
    "Days for which events and their deliveries are kept, including failures, which can be replayed during that time, for organizations that have not chosen.",
  ],
  RETENTION_NOTICE_DAYS: [
    z.coerce.number().int().min(0, "must be a whole number from 0 to 365").max(365).default(7),
    "`7`",
    "Days for which `Organization.warnings` announces a shorter retention before it deletes anything.",
  ],
} as const;
