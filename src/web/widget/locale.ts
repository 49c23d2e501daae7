/** Languages of the widget's texts. */
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

/** Former language codes, which some browsers still send. */
const FORMER_CODES: Readonly<Record<string, string>> = { iw: "he", in: "id", no: "nb" };

/** The language of a locale, such as `de` of `de-AT`; undefined if the widget has no texts in it. */
export function languageOf(locale: string): Language | undefined {
  const code = locale.split("-")[0]!.toLowerCase();
  return LANGUAGES.find((language) => language === (FORMER_CODES[code] ?? code));
}

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

/** The canonical form of a locale, such as `de-AT` for `de_at`; undefined if the widget has no texts in its language. */
export function knownLocale(tag: string): string | undefined {
  const locale = canonical(tag);
  return locale && languageOf(locale) ? locale : undefined;
}
