import { signal } from "@preact/signals";
import { WORDS, type Words } from "./languages";

const RIGHT_TO_LEFT = ["ar", "he", "fa", "ur"];

/** The visitor's locale, such as `de-AT`, with the texts of its language. */
export interface LocalizedTexts {
  readonly locale: string;
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  readonly words: Words;
}

function canonical(tag: string | null | undefined): string | undefined {
  try {
    return tag ? Intl.getCanonicalLocales(tag.replace("_", "-"))[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Former language codes, which some browsers still send. */
const FORMER_CODES: Readonly<Record<string, string>> = { iw: "he", in: "id", no: "nb" };
const languageOf = (tag: string) => {
  const language = tag.split("-")[0]!.toLowerCase();
  return FORMER_CODES[language] ?? language;
};
const known = (tag: string) => Object.hasOwn(WORDS, languageOf(tag));

/** Chooses the page's locale, else the browser's, else English. */
export function speechFor(requested: string | null): LocalizedTexts {
  const candidates = [requested, ...navigator.languages].map(canonical).filter((tag) => tag !== undefined);
  const locale = candidates.find(known) ?? "en";
  const language = languageOf(locale);
  const direction = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  return { locale, language, direction, words: WORDS[language as keyof typeof WORDS] };
}

export const speech = signal<LocalizedTexts>(speechFor(null));

export type TextName = keyof Words;

export const say = (name: TextName, values: Readonly<Record<string, string>> = {}): string =>
  speech.value.words[name].replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
