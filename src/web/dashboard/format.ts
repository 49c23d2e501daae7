import { zone } from "./zone";

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export const NONE = "–";
export const number = (value: number | null) => (value === null ? NONE : whole.format(value));
export const decimal = (value: number | null) => (value === null ? NONE : short.format(value));
export const share = (part: number, all: number) => (all === 0 ? NONE : percent.format(part / all));
export const change = (ratio: number) => percent.format(Math.abs(ratio));
/** Formats a day such as 2026-01-31. */
export const day = (date: string) => dayAndMonth.format(new Date(date));
export const time = (iso: string) => formatTime(iso, { dateStyle: "medium", timeStyle: "short" });
export const timeOfDay = (iso: string) => formatTime(iso, { timeStyle: "short" });
const formatTime = (iso: string, style: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(undefined, { ...style, timeZone: zone() }).format(new Date(iso));

export function milliseconds(value: number | null): string {
  if (value === null) return NONE;
  return value < 1_000 ? `${Math.round(value)} ms` : seconds(value / 1_000);
}

export function seconds(value: number | null): string {
  if (value === null) return NONE;
  if (value < 10) return `${short.format(value)} s`;
  if (value < 60) return `${Math.round(value)} s`;
  const minutes = Math.round(value / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a reason such as idle-timeout as words. */
export const words = (name: string) => {
  const text = name
    .replaceAll(/[-_]+/g, " ")
    .toLowerCase()
    .replace(/\bapi\b/, "API");
  return text.charAt(0).toUpperCase() + text.slice(1);
};
