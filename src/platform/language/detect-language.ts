import type { eld as Detector } from "eld/extrasmall";

/** Languages of the widget. */
export const LANGUAGES = [
  "ar",
  "de",
  "en",
  "es",
  "fr",
  "he",
  "it",
  "ja",
  "ko",
  "nl",
  "pl",
  "pt",
  "tr",
  "zh",
] as const;
export type Language = (typeof LANGUAGES)[number];

export interface DetectedLanguage {
  readonly language: Language;
  /** Whether the text is long and distinct enough to be sure. */
  readonly isReliable: boolean;
}

/** Longer texts are detected by their beginning. In characters. */
const MAX_LENGTH = 300;

let detector: Promise<typeof Detector> | undefined;

/** Loads the n-grams on first use, because they take half a second. */
async function load(): Promise<typeof Detector> {
  const { eld } = await import("eld/extrasmall");
  eld.setLanguageSubset([...LANGUAGES]);
  return eld;
}

/** The language of a text among those of the widget; undefined if it has no letters of any of them. */
export async function detectLanguage(text: string): Promise<DetectedLanguage | undefined> {
  detector ??= load();
  const found = (await detector).detect(text.slice(0, MAX_LENGTH));
  const language = LANGUAGES.find((one) => one === found.language);
  return language && { language, isReliable: found.isReliable() };
}
