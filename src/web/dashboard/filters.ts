import type { Channel } from "./operations.generated";
import { BROWSER_ZONE, chooseZone, dayOf, isZone, startOf, zone } from "./zone";

/** Parameter of the address with the ids of the assistant and of the conversation whose transcript is open. */
export const CONVERSATION = "conversation";

/** The selected filters. They are stored in the address, so that they survive a reload. */
export interface Filters {
  /** ISO 8601 times; each is the start of a day in the time zone of the page. */
  readonly from: string;
  readonly to: string;
  readonly assistantId?: string;
  readonly channel?: Channel;
}

export const PRESETS = { "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days", "365": "Last year" };
export type Preset = keyof typeof PRESETS | "custom";
const DAY_MS = 86_400_000;

export interface Choice {
  readonly preset: Preset;
  /** First and last day, such as 2026-01-31. */
  readonly first: string;
  readonly last: string;
  readonly assistantId: string;
  readonly channel: Channel | "";
  /** IANA name. */
  readonly timezone: string;
}

/** Days of a preset, including today. */
export function daysOf(preset: Exclude<Preset, "custom">): Pick<Choice, "preset" | "first" | "last"> {
  const last = dayOf(new Date());
  return { preset, first: dayOf(startOf(last, 1 - Number(preset))), last };
}

export function filtersOf({ first, last, assistantId, channel }: Choice): Filters {
  return {
    from: startOf(first).toISOString(),
    to: startOf(last, 1).toISOString(),
    ...(assistantId !== "" && { assistantId }),
    ...(channel !== "" && { channel }),
  };
}

/** The previous period of the same length. */
export function before({ from, to }: Pick<Filters, "from" | "to">) {
  const length = Date.parse(to) - Date.parse(from);
  return { from: new Date(Date.parse(from) - length).toISOString(), to: from };
}

const isDay = (text: string | null): text is string => text !== null && /^\d{4}-\d\d-\d\d$/.test(text);
/** Why a choice is invalid; undefined if it is valid. */
export function problemWith({ first, last }: Choice): string | undefined {
  if (!isDay(first) || !isDay(last)) return "Choose both days.";
  const days = (startOf(last, 1).getTime() - startOf(first).getTime()) / DAY_MS;
  if (days <= 0) return "The first day must not be after the last one.";
  return days > 399 ? "Choose at most 399 days." : undefined;
}

export function readAddress(): Choice {
  const parameters = new URLSearchParams(location.search);
  const timezone = parameters.get("timezone") ?? "";
  if (isZone(timezone)) chooseZone(timezone);
  const first = parameters.get("first");
  const last = parameters.get("last");
  const preset = parameters.get("period") ?? "30";
  const known = Object.hasOwn(PRESETS, preset) ? (preset as Exclude<Preset, "custom">) : "30";
  const custom = isDay(first) && isDay(last) ? ({ preset: "custom", first, last } as const) : undefined;
  const channel = parameters.get("channel") ?? "";
  return {
    ...(custom ?? daysOf(known)),
    assistantId: parameters.get("assistant") ?? "",
    channel: ["TEXT", "VOICE", "SMS"].includes(channel) ? (channel as Channel) : "",
    timezone: zone(),
  };
}

export function writeAddress({ preset, first, last, assistantId, channel, timezone }: Choice): void {
  const parameters = new URLSearchParams(preset === "custom" ? { first, last } : { period: preset });
  if (assistantId !== "") parameters.set("assistant", assistantId);
  if (channel !== "") parameters.set("channel", channel);
  if (timezone !== BROWSER_ZONE) parameters.set("timezone", timezone);
  const conversation = new URLSearchParams(location.search).get(CONVERSATION);
  if (conversation !== null) parameters.set(CONVERSATION, conversation);
  history.replaceState(history.state, "", `${location.pathname}?${parameters.toString()}`);
}
