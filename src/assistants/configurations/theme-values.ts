import type { JsonObject } from "../../platform/json/json-object";
import { nearest } from "../../platform/nearest";
import { isColor } from "./css-color";

/** Why the widget does not show a value of a theme as it is. */
interface ThemeProblem {
  readonly key: string;
  /** IGNORED: the widget shows its default instead. CUT: it shows a part of the text, or the nearest size. */
  readonly effect: "IGNORED" | "CUT";
  /** The predicate of a sentence about the value. */
  readonly reason: string;
}

type Check = (value: unknown) => Omit<ThemeProblem, "key"> | undefined;

const ignored = (reason: string) => ({ effect: "IGNORED", reason }) as const;
const cut = (reason: string) => ({ effect: "CUT", reason }) as const;

const color: Check = (value) =>
  isColor(value)
    ? undefined
    : ignored("must be a CSS color: a name, or a form such as #0f766e, rgb(15 118 110) or hsl(175 77% 26%)");

/** Longer texts are not sent to web pages. In characters. */
const MAX_LENGTH = 500;

/** @param shown how many characters the widget shows */
const text =
  (shown: number): Check =>
  (value) => {
    if (typeof value !== "string" || value.length > MAX_LENGTH)
      return ignored(`must be a text of at most ${MAX_LENGTH} characters`);
    return value.replace(/\s+/g, " ").trim().length > shown
      ? cut(`has more than ${shown} characters; the widget shows the first ${shown}`)
      : undefined;
  };

const position: Check = (value) =>
  value === "left" || value === "right" ? undefined : ignored("must be left or right");

/** A font name: words, or anything without special characters in quotes. */
const FONT_NAME =
  /^(?:"[\p{L}\p{N} _-]+"|'[\p{L}\p{N} _-]+'|-?[\p{L}_][\p{L}\p{N}_-]*(?: [\p{L}_][\p{L}\p{N}_-]*)*)$/u;
const CSS_KEYWORD = /^(?:inherit|initial|unset|revert|revert-layer|default)$/i;
const MAX_FONTS_LENGTH = 200;

const fonts: Check = (value) =>
  typeof value === "string" &&
  value.length <= MAX_FONTS_LENGTH &&
  value
    .split(",")
    .map((name) => name.trim())
    .every((name) => FONT_NAME.test(name) && !CSS_KEYWORD.test(name))
    ? undefined
    : ignored(
        `must be font names, separated by commas, of at most ${MAX_FONTS_LENGTH} characters; names with digits or signs at the beginning of a word need quotes`,
      );

const address: Check = (value) =>
  typeof value === "string" && value.length <= MAX_LENGTH && /^https:\/\//i.test(value) && URL.canParse(value)
    ? undefined
    : ignored(`must be a URL that begins with https://, of at most ${MAX_LENGTH} characters`);

const MAX_RADIUS_PX = 28;

const radius: Check = (value) => {
  const pixels =
    typeof value === "string" && /^\d{1,6}(?:\.\d{1,6})?(?:px)?$/.test(value)
      ? Number.parseFloat(value)
      : value;
  if (typeof pixels !== "number" || !(pixels >= 0))
    return ignored(`must be a number of pixels from 0 to ${MAX_RADIUS_PX}, such as 12 or "12px"`);
  return pixels > MAX_RADIUS_PX
    ? cut(`is larger than ${MAX_RADIUS_PX} pixels, the most that is shown`)
    : undefined;
};

/** The keys of a theme that the widget understands. Other keys are private to the organization. */
export const THEME_KEYS: Readonly<Record<string, Check>> = {
  primaryColor: color,
  backgroundColor: color,
  textColor: color,
  fontFamily: fonts,
  position,
  title: text(80),
  subtitle: text(120),
  avatarUrl: address,
  launcherText: text(40),
  borderRadius: radius,
};

/** An empty value stands for the default. */
const isSet = (value: unknown): boolean => value != null && value !== "";

/** The values of a theme that the widget does not show as they are. */
export const themeProblems = (theme: JsonObject): ThemeProblem[] =>
  Object.entries(THEME_KEYS).flatMap(([key, check]) => {
    const problem = isSet(theme[key]) ? check(theme[key]) : undefined;
    return problem ? [{ key, ...problem }] : [];
  });

/** Number of private keys that are compared with the known ones, and of those that are reported. */
const MAX_COMPARED = 100;
const MAX_REPORTED = 5;

/** Keys that the widget does not know, each with the known key that was probably meant, unless the theme has that one. */
export function misspelledKeys(theme: JsonObject): { readonly key: string; readonly meant: string }[] {
  const missing = Object.keys(THEME_KEYS).filter((key) => !isSet(theme[key]));
  const others = Object.keys(theme).filter((key) => !Object.hasOwn(THEME_KEYS, key));
  const found = others.slice(0, MAX_COMPARED).flatMap((key) => {
    const meant = nearest(key, missing);
    return meant === undefined ? [] : [{ key, meant }];
  });
  return found.slice(0, MAX_REPORTED);
}

/** The part of a theme that web pages receive: the values that the widget shows. */
export const publicTheme = (theme: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(THEME_KEYS).flatMap(([key, check]) =>
      isSet(theme[key]) && check(theme[key])?.effect !== "IGNORED" ? [[key, theme[key]]] : [],
    ),
  );
