import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { invalid } from "../../platform/errors";

export interface AnalyticsInput {
  readonly from?: Date | null;
  readonly to?: Date | null;
  readonly assistantId?: string | null;
  readonly channel?: Channel | null;
  readonly projectId?: string | null;
  readonly timezone?: string | null;
}

/** What statistics are of. */
export interface Period {
  readonly from: Date;
  /** The first moment that lies behind it. */
  readonly to: Date;
  /** Name in the IANA database, by which days begin and end. */
  readonly timezone: string;
}

const DAY = 86_400_000;
const USUAL_DAYS = 30;
const MOST_DAYS = 400;
/** Offsets such as +02:00 mean the opposite in PostgreSQL. */
const NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

/** @throws BAD_USER_INPUT for a period without end or sense, or an unknown time zone */
export function periodOf({ from, to, timezone }: AnalyticsInput): Period {
  const zone = timezone ?? "UTC";
  const end = to ?? currentDate();
  const begin = from ?? new Date(end.getTime() - USUAL_DAYS * DAY);
  if (!NAME.test(zone) || !isKnown(zone))
    throw invalid([{ path: "input.timezone", message: "must be a name such as UTC or Europe/Zurich" }]);
  if (begin >= end) throw invalid([{ path: "input.from", message: "must lie before `to`" }]);
  if (end.getTime() - begin.getTime() > MOST_DAYS * DAY)
    throw invalid([{ path: "input.from", message: `must lie at most ${MOST_DAYS} days before \`to\`` }]);
  return { from: begin, to: end, timezone: zone };
}

function isKnown(timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

/** Every day of a period, each as 2026-01-31. */
export function daysOf({ from, to, timezone }: Period): string[] {
  const written = new Intl.DateTimeFormat("en-CA", { timeZone: timezone, dateStyle: "short" });
  const last = written.format(new Date(to.getTime() - 1));
  const days = [written.format(from)];
  while (days.at(-1)! < last) days.push(following(days.at(-1)!));
  return days;
}

const following = (day: string) => new Date(Date.parse(day) + DAY).toISOString().slice(0, 10);
