import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { invalid, quoted } from "../../platform/errors";

export interface AnalyticsInput {
  readonly from?: Date | null;
  readonly to?: Date | null;
  readonly assistantId?: string | null;
  readonly channel?: Channel | null;
  readonly projectId?: string | null;
  readonly timezone?: string | null;
}

/** The period of statistics. */
export interface Period {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** IANA name; days start and end in this time zone. */
  readonly timezone: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 400;
/** Excludes offsets such as +02:00, whose sign PostgreSQL interprets the other way round. */
const ZONE_NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

/** Places of short names with summer time. Older versions of Node.js keep these names. */
const PLACES: Readonly<Record<string, string>> = {
  CET: "Europe/Brussels",
  MET: "Europe/Brussels",
  EET: "Europe/Athens",
  WET: "Europe/Lisbon",
};

/** @throws BAD_USER_INPUT for an empty or too long period, or an unknown time zone */
export function periodOf({ from, to, timezone }: AnalyticsInput): Period {
  const zone = timezone ?? "UTC";
  const name = ZONE_NAME.test(zone) ? nameOf(zone) : undefined;
  const end = to ?? currentDate();
  const start = from ?? new Date(end.getTime() - DEFAULT_DAYS * DAY_MS);
  if (name === undefined)
    throw invalid([
      { path: "timezone", message: `must be a name such as UTC or Europe/Zurich; got ${quoted(zone)}` },
    ]);
  if (start >= end) throw invalid([{ path: "from", message: "must be before `to`" }]);
  if (end.getTime() - start.getTime() > MAX_DAYS * DAY_MS)
    throw invalid([{ path: "from", message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  return { from: start, to: end, timezone: name };
}

/**
 * The name by which PostgreSQL knows a time zone, too; undefined if there is none. PostgreSQL takes some short names,
 * such as CET or IST, for fixed offsets, and not always for those of the same place.
 */
function nameOf(timeZone: string): string | undefined {
  try {
    const { timeZone: name } = Intl.DateTimeFormat("en", { timeZone }).resolvedOptions();
    return name.startsWith("SystemV/") ? undefined : (PLACES[name] ?? name);
  } catch {
    return undefined;
  }
}

/** Every day of a period, formatted as 2026-01-31. */
export function daysOf({ from, to, timezone }: Period): string[] {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: timezone, dateStyle: "short" });
  const dayOf = (time: Date | number) => format.format(time).padStart(10, "0"); // years before 1000
  const last = dayOf(to.getTime() - 1);
  const days = [dayOf(from)];
  while (days.at(-1)! < last) days.push(nextDay(days.at(-1)!));
  return days;
}

const nextDay = (day: string) => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
