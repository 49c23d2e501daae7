import type { JsonObject } from "../../platform/json/json-object";

const text = (value: unknown) => typeof value === "string" && value.length <= 500;
const address = (value: unknown) => text(value) && /^https:\/\//i.test(value as string);

/** What of a theme is for pages, and of which kind it must be; other keys are the organization's own. */
const KEYS: Readonly<Record<string, (value: unknown) => boolean>> = {
  primaryColor: text,
  backgroundColor: text,
  textColor: text,
  fontFamily: text,
  position: (value) => value === "left" || value === "right",
  title: text,
  subtitle: text,
  avatarUrl: address,
  launcherText: text,
  borderRadius: (value) => typeof value === "number" || text(value),
};

/** The part of a theme that a page is shown. */
export const shownTheme = (theme: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(KEYS).flatMap(([key, fits]) => (fits(theme[key]) ? [[key, theme[key]]] : [])),
  );
