import type { JsonObject } from "../../platform/json/json-object";

const text = (value: unknown) => typeof value === "string" && value.length <= 500;
const address = (value: unknown) => text(value) && /^https:\/\//i.test(value as string);

/** The keys of a theme that pages receive, with their validators; other keys are private to the organization. */
const PUBLIC_KEYS: Readonly<Record<string, (value: unknown) => boolean>> = {
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

/** The part of a theme that pages receive. */
export const publicTheme = (theme: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(PUBLIC_KEYS).flatMap(([key, fits]) => (fits(theme[key]) ? [[key, theme[key]]] : [])),
  );
