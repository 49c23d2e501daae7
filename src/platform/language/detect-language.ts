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
  /** How well a language fits, from 0 to 1. */
  readonly scoreOf: (language: Language) => number;
}

/** In characters. The language of a longer text is detected from its beginning. */
const MAX_LENGTH = 300;

let detector: Promise<typeof Detector> | undefined;

/**
 * Loads the n-grams. Takes up to a second of CPU time, so call it before jobs begin, not in the middle of a
 * conversation.
 */
export async function prepareDetection(): Promise<void> {
  await detectorOnce();
}

const detectorOnce = (): Promise<typeof Detector> => (detector ??= load());

async function load(): Promise<typeof Detector> {
  const { eld } = await import("eld/extrasmall");
  eld.setLanguageSubset([...LANGUAGES]);
  return eld;
}

/** The language of a text among those of the widget; undefined if it has no letters of any of them. */
export async function detectLanguage(text: string): Promise<DetectedLanguage | undefined> {
  const found = (await detectorOnce()).detect(text.slice(0, MAX_LENGTH));
  const language = LANGUAGES.find((one) => one === found.language);
  const scores = found.getScores();
  return language && { language, isReliable: found.isReliable(), scoreOf: (one) => scores[one] ?? 0 };
}
