import { signal } from "@preact/signals";
import { knownLocale, languageOf } from "../locale";
import { WORDS, type Words } from "./languages";

const RIGHT_TO_LEFT: readonly string[] = ["ar", "he"];

/** The visitor's locale, such as `de-AT`, with the texts of its language. */
export interface LocalizedTexts {
  readonly locale: string;
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  readonly words: Words;
}

/** Chooses the page's locale, else the browser's, else English. */
export function speechFor(requested: string | null): LocalizedTexts {
  const candidates = [requested ?? "", ...navigator.languages];
  const locale = candidates.map(knownLocale).find((one) => one !== undefined) ?? "en";
  const language = languageOf(locale) ?? "en";
  const direction = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  return { locale, language, direction, words: WORDS[language] };
}

export const speech = signal<LocalizedTexts>(speechFor(null));

export type TextName = keyof Words;

export const say = (name: TextName, values: Readonly<Record<string, string>> = {}): string =>
  speech.value.words[name].replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
