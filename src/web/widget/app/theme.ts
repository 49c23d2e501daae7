import type { JsonObject } from "../protocol";
import { colorOf, hex, INK, legible, luminance, mix, readableOn, WHITE, type Color } from "./color";

/**
 * The validated theme; invalid values are replaced by defaults. The service omits them
 * (src/assistants/configurations/theme-values.ts); this check keeps the frame safe by itself.
 */
export interface Theme {
  readonly primary: Color;
  readonly background?: Color;
  readonly text?: Color;
  readonly fontFamily: string;
  readonly position: "left" | "right";
  readonly title: string;
  readonly subtitle: string;
  readonly avatarUrl?: string;
  readonly launcherText: string;
  /** Border radius in pixels. */
  readonly radius: number;
}

const PRIMARY: Color = [67, 56, 202];
const NIGHT: Color = [20, 22, 28];
const FONT = `ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif`;
/** Font names, without characters that could end a declaration or load a resource. */
const FONT_NAMES = /^[\p{L}\p{N} ,'"_-]{1,200}$/u;
const MAX_RADIUS_PX = 28;

const line = (value: unknown, maxLength: number): string =>
  typeof value === "string" ? value.replace(/\s+/g, " ").trim().slice(0, maxLength) : "";

function pixels(value: unknown): number {
  const number = typeof value === "string" ? Number.parseFloat(value) : value;
  return typeof number === "number" && Number.isFinite(number)
    ? Math.min(Math.max(number, 0), MAX_RADIUS_PX)
    : 16;
}

/** An https URL. */
function address(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const url = new URL(value);
    return url.protocol === "https:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

export function readTheme(theme: JsonObject, name: string): Theme {
  const font = typeof theme.fontFamily === "string" && FONT_NAMES.test(theme.fontFamily);
  return {
    primary: colorOf(theme.primaryColor) ?? PRIMARY,
    background: colorOf(theme.backgroundColor),
    text: colorOf(theme.textColor),
    fontFamily: font ? `${String(theme.fontFamily)}, ${FONT}` : FONT,
    position: theme.position === "left" ? "left" : "right",
    title: line(theme.title, 80) || line(name, 80),
    subtitle: line(theme.subtitle, 120),
    avatarUrl: address(theme.avatarUrl),
    launcherText: line(theme.launcherText, 40),
    radius: pixels(theme.borderRadius),
  };
}

/** All colors, by the name of their custom property. Contrast is at least 4.5 for text and 3 for edges. */
function palette(theme: Theme, dark: boolean): Readonly<Record<string, string>> {
  // Colors chosen by the owner take precedence over the visitor's preference for dark mode.
  const background = theme.background ?? (dark ? NIGHT : WHITE);
  const isDark = luminance(background) < 0.18;
  const ink = isDark ? ([236, 238, 242] as const) : INK;
  const readable = legible(theme.text ?? ink, [background], 4.5);
  const surface = mix(background, readable, isDark ? 0.09 : 0.06);
  const grounds = [background, surface];
  const text = legible(readable, grounds, 4.5);
  const danger = legible(isDark ? [255, 138, 128] : [190, 30, 20], grounds, 4.5);
  const colors: Record<string, Color> = {
    primary: theme.primary,
    "on-primary": readableOn(theme.primary),
    background,
    surface,
    raised: mix(background, text, isDark ? 0.05 : 0),
    text,
    muted: legible(mix(text, background, 0.4), grounds, 4.5),
    line: mix(background, text, isDark ? 0.16 : 0.1),
    edge: legible(mix(text, background, 0.55), grounds, 3),
    accent: legible(theme.primary, grounds, 4.5),
    focus: legible(theme.primary, grounds, 3),
    danger,
  };
  return Object.fromEntries(Object.entries(colors).map(([name, color]) => [name, hex(color)]));
}

/** Sets custom properties by script, which strict content security policies allow, unlike inline styles. */
export function applyTheme(theme: Theme, dark: boolean): void {
  const { style } = document.documentElement;
  const colors = palette(theme, dark);
  for (const [name, value] of Object.entries(colors)) style.setProperty(`--${name}`, value);
  style.setProperty("--font", theme.fontFamily);
  style.setProperty("--radius", `${theme.radius}px`);
  style.setProperty(
    "color-scheme",
    luminance(theme.background ?? (dark ? NIGHT : WHITE)) < 0.18 ? "dark" : "light",
  );
}
