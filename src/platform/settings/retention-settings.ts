import { z } from "zod";
import { whole } from "./setting-kinds";

const days = () => whole(1, 36_500);

/** Retention for organizations that have not chosen their own. */
export const RETENTION_SETTINGS = {
  LOG_RETENTION_DAYS: [
    days().optional(),
    "forever",
    "Days to keep a log after its conversation has ended, unless the organization sets its own retention.",
  ],
  RECORDING_RETENTION_DAYS: [
    days().optional(),
    "as long as the log",
    "Days to keep recordings of calls, unless the organization sets its own retention.",
  ],
  EVENT_RETENTION_DAYS: [
    days().default(30),
    "`30`",
    "Days to keep events and their deliveries, unless the organization sets its own retention. Failed deliveries can be replayed during that time.",
  ],
  RETENTION_NOTICE_DAYS: [
    z.coerce.number().int().min(0, "must be a whole number from 0 to 365").max(365).default(7),
    "`7`",
    "Days during which `Organization.warnings` announces a shorter retention before it deletes anything.",
  ],
} as const;
