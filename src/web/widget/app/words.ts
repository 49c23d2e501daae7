import { signal } from "@preact/signals";
import { WORDS, type Words } from "./languages";

const RIGHT_TO_LEFT = ["ar", "he", "fa", "ur"];

/** A locale such as `de-AT`, and the nearest language that there are words for. */
export interface Speech {
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

/** Hebrew and Norwegian had other codes once. */
const OLD: Readonly<Record<string, string>> = { iw: "he", in: "id", no: "nb" };
const languageOf = (tag: string) => {
  const language = tag.split("-")[0]!.toLowerCase();
  return OLD[language] ?? language;
};
const known = (tag: string) => Object.hasOwn(WORDS, languageOf(tag));

/** What the page asks for, else what the visitor's browser does, else English. */
export function speechFor(asked: string | null): Speech {
  const wishes = [asked, ...navigator.languages].map(canonical).filter((tag) => tag !== undefined);
  const locale = wishes.find(known) ?? "en";
  const language = languageOf(locale);
  const direction = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  return { locale, language, direction, words: WORDS[language as keyof typeof WORDS] };
}

export const speech = signal<Speech>(speechFor(null));

export type Sayable = keyof Words;

export const say = (name: Sayable, values: Readonly<Record<string, string>> = {}): string =>
  speech.value.words[name].replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
