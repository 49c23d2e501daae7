/** The time zone of the browser. */
export const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

let chosen = BROWSER_ZONE;
/** The time zone of all days and times on the page, as an IANA name. */
export const zone = () => chosen;
export const chooseZone = (name: string) => void (chosen = name);

export function isZone(name: string): boolean {
  try {
    // The server knows names only, no offsets such as +02:00.
    return /^[A-Za-z]/.test(name) && Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Names of all time zones; the browser's and UTC come first. */
export const ZONES: readonly string[] = [
  ...new Set([BROWSER_ZONE, "UTC", ...Intl.supportedValuesOf("timeZone")]),
];

/** A time zone with its present offset, such as Asia/Kathmandu (GMT+5:45). */
export function zoneWithOffset(name: string): string {
  const format = new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "shortOffset" });
  const offset = format.formatToParts(new Date()).find(({ type }) => type === "timeZoneName")?.value;
  return offset === undefined || name === "UTC" ? name : `${name} (${offset})`;
}

/** The day on which a time falls, such as 2026-01-31. */
export const dayOf = (at: Date): string =>
  new Intl.DateTimeFormat("en-CA", {
    timeZone: chosen,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).format(at);

const STEP_MS = 900_000;

/** Start of a day, or of the day `later` days after it. Where the clock changes at midnight, a day starts at 01:00. */
export function startOf(day: string, later = 0): Date {
  const midnight = new Date(Date.parse(day) + later * 86_400_000);
  const wanted = midnight.toISOString().slice(0, 10);
  let at = midnight.getTime() - offsetMs(midnight);
  at = midnight.getTime() - offsetMs(new Date(at));
  while (dayOf(new Date(at)) < wanted) at += STEP_MS;
  while (dayOf(new Date(at - STEP_MS)) >= wanted) at -= STEP_MS;
  return new Date(at);
}

/** How far the chosen time zone is ahead of UTC. */
function offsetMs(at: Date): number {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: chosen,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  }).formatToParts(at);
  const of = (wanted: string) => Number(parts.find(({ type }) => type === wanted)?.value);
  const local = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"));
  return local - Math.floor(at.getTime() / 60_000) * 60_000;
}
