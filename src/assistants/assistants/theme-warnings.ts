import type { JsonObject } from "../../platform/json/json-object";
import { misspelledKeys, themeProblems } from "../configurations/theme-values";
import type { ConfigurationWarning } from "./warnings";

/** Warnings about the theme. The theme belongs to the widget, so they have the channel of its chats. */
export function themeWarnings(theme: JsonObject): ConfigurationWarning[] {
  const about = (key: string) => ({ channel: "TEXT", path: `theme.${key}` }) as const;
  const values = themeProblems(theme).map(({ key, effect, reason }) => ({
    ...about(key),
    code: `THEME_VALUE_${effect}` as const,
    message:
      effect === "IGNORED"
        ? `The value ${reason}. The widget ignores it and shows its default.`
        : `The value ${reason}.`,
  }));
  const keys = misspelledKeys(theme).map(({ key, meant }) => ({
    ...about(key),
    code: "THEME_KEY_UNKNOWN" as const,
    message: `The widget does not know this key. Did you mean ${meant}?`,
  }));
  return [...values, ...keys];
}
