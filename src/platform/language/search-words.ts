import type { Language } from "./detect-language";
import { withoutQuestionWords } from "./question-words";

/** Text search configurations of PostgreSQL. The words of other languages are not reduced to stems by it. */
const CONFIGURATIONS: Partial<Readonly<Record<Language, string>>> = {
  ar: "arabic",
  de: "german",
  en: "english",
  es: "spanish",
  fr: "french",
  it: "italian",
  nl: "dutch",
  pt: "portuguese",
  tr: "turkish",
};

/** Name of the text search configuration for a language. */
export const configurationOf = (language: Language): string => CONFIGURATIONS[language] ?? "simple";

/** Words of at least this many letters are cut to it in Polish, whose endings PostgreSQL does not know. */
const POLISH_STEM_LENGTH = 5;
const HEBREW_GRAM_LENGTH = 3;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+/gu;
const HIRAGANA = /\p{Script=Hiragana}+/gu;
const WORD = /\p{L}+/gu;

/** In lower case, with spaces for punctuation, which some databases take for letters. */
const normalize = (text: string): string =>
  text
    .toWellFormed()
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ");

/** A text of the knowledge as PostgreSQL indexes it: Japanese, Chinese and Korean as single characters and pairs. */
export function indexedWords(text: string, language: Language): string {
  const spaced = normalize(text).replace(UNSPACED, (run) => ` ${[...run, ...grams(run, 2)].join(" ")} `);
  return stem(spaced, language);
}

/** The words of a question as PostgreSQL looks them up, without those that any question has. */
export function questionWords(question: string, language: Language): string {
  const asked = withoutQuestionWords(normalize(question), language);
  // Japanese writes most nouns without hiragana, and endings with it.
  const nouns = language === "ja" ? asked.replace(HIRAGANA, " ") : asked;
  const words = /[\p{L}\p{N}]/u.test(nouns) ? nouns : asked;
  const spaced = words.replace(UNSPACED, (run) => ` ${grams(run, 2).join(" ")} `);
  return stem(spaced, language);
}

function stem(text: string, language: Language): string {
  if (language === "pl")
    return text.replace(WORD, (word) => Array.from(word).slice(0, POLISH_STEM_LENGTH).join(""));
  // Hebrew joins articles and prepositions to the word.
  if (language === "he") return text.replace(WORD, (word) => grams(word, HEBREW_GRAM_LENGTH).join(" "));
  return text;
}

/** Every sequence of `length` characters; the whole word if it is shorter. */
function grams(word: string, length: number): string[] {
  const letters = Array.from(word);
  if (letters.length <= length) return [word];
  return letters.slice(length - 1).map((_, at) => letters.slice(at, at + length).join(""));
}
