import { detectLanguage, LANGUAGES, type Language } from "./detect-language";
import { withoutQuestionWords } from "./question-words";
import type { ModelRequest } from "../ports/text-model";
import { findPhrases, type Phrase } from "./remarks";

/** In characters. The language of a longer text is told by its beginning. */
const SAMPLE_LENGTH = 2_000;
/** A text with fewer words tells its language only by a word that makes it a sentence. */
const MIN_WORDS = 3;
/** The same in characters, for Chinese, Japanese and Korean. */
const MIN_UNSPACED = 5;
/** Earlier messages of the person that tell the language. */
const MAX_EARLIER = 10;
/** A text in capitals with at most this many words may be a person's name. */
const MAX_NAME_WORDS = 4;

/** Difference of scores from which on one language fits clearly better: "I can't log in" is 0.68 Italian, 0.67 English. */
const CLEARLY_BETTER = 0.1;

const UNSPACED_LANGUAGES: readonly Language[] = ["ja", "ko", "zh"];
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}]/gu;
/** Katakana counts only beside hiragana, because foreign names are written in it alone. */
const JAPANESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/gu;
const HIRAGANA = /\p{Script=Hiragana}/u;
/** The vowels of Arabic and Hebrew, which are seldom written. */
const VOWEL_MARKS = /[\u0591-\u05C7\u064B-\u0652]/g;
/** Words within names. */
const PARTICLES = new Set(
  "al ap ben bin da das de del della den der des di do dos du el ibn la las le los ten ter und van von y zu".split(
    " ",
  ),
);
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/\p{Script=Hebrew}/u, "he"],
  [/\p{Script=Arabic}/u, "ar"],
];

/**
 * Chooses the language of an answer. It begins with that of the assistant's messages or its own texts, and each message
 * of the person changes it if it is clearly in another language. Short and ambiguous texts decide only if no other text does. English if
 * nothing tells.
 */
export async function languageOfAnswer(
  said: string,
  { messages, texts }: Pick<ModelRequest, "messages" | "texts">,
): Promise<Language> {
  const of = (role: "user" | "assistant") =>
    messages.flatMap((message) => (message.role === role ? message.content : []));
  const own = [of("assistant").join("\n"), ...(await texts())];
  let usual = await firstSure(own);
  for (const text of [...of("user").slice(-MAX_EARLIER), said])
    usual = (await sureLanguage(text, usual)) ?? usual;
  if (usual) return usual;
  const weak = [...of("assistant"), ...own, said, ...of("user").reverse()].flatMap(
    (text) => likelyLanguage(text) ?? [],
  );
  return weak[0] ?? "en";
}

async function firstSure(some: readonly string[]): Promise<Language | undefined> {
  for (const text of some) {
    const language = await sureLanguage(text);
    if (language) return language;
  }
  return undefined;
}

/**
 * The language of a text that is long and distinct enough to tell it.
 * @param usual the language of the conversation so far: it stays unless another one fits clearly better
 */
async function sureLanguage(whole: string, usual?: Language): Promise<Language | undefined> {
  const text = whole.slice(0, SAMPLE_LENGTH).replace(VOWEL_MARKS, "");
  const { found, rest } = findPhrases(text);
  if (found.length > 0 && !/\p{L}/u.test(rest)) return languageOfPhrases(found);
  const words = wordsOf(text);
  const detected = await detectLanguage(words.join(" "));
  if (!detected) return undefined;
  const { language, isReliable, scoreOf } = detected;
  const isQuestion = hasQuestionWord(words, language);
  const isClear = usual === undefined || scoreOf(language) - scoreOf(usual) > CLEARLY_BETTER;
  const count = UNSPACED_LANGUAGES.includes(language)
    ? (text.match(HIRAGANA.test(text) ? JAPANESE : UNSPACED)?.length ?? 0) - MIN_UNSPACED
    : new Set(words.map((word) => word.toLowerCase())).size - MIN_WORDS;
  if (!isClear && (count < 0 || !isQuestion || hasQuestionWord(words, usual))) return usual;
  if (count < (isQuestion ? -1 : 0)) return undefined;
  const isSure = UNSPACED_LANGUAGES.includes(language) || (isReliable && (isQuestion || !isName(words)));
  return isSure ? language : undefined;
}

/** The language of a message that consists of phrases: that of the long ones. */
function languageOfPhrases(found: readonly Phrase[]): Language | undefined {
  const long = new Set(found.filter(({ text }) => isLong(text)).map(({ language }) => language));
  return long.size === 1 ? [...long][0] : undefined;
}

const isLong = (phrase: string): boolean =>
  phrase.includes(" ") || (phrase.match(UNSPACED)?.length ?? 0) >= MIN_UNSPACED;

/** Words without numbers and addresses. */
const wordsOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .flatMap((part) => (/[\d@/_{]/.test(part) ? [] : (part.match(/[\p{L}\p{M}'’-]+/gu) ?? [])));

/** Whether a word makes it a sentence. Capitals within a text begin names, such as May. */
function hasQuestionWord([first = "", ...others]: readonly string[], language: Language): boolean {
  const text = [first.toLowerCase(), ...others].join(" ");
  return withoutQuestionWords(text, language) !== text;
}

/** Whether the words may be a person's name: few, and each begins with a capital or belongs to a script without any. */
function isName(words: readonly string[]): boolean {
  const main = words.filter((word) => !PARTICLES.has(word.toLowerCase()));
  return main.length <= MAX_NAME_WORDS && main.every((word) => /^[\p{Lu}\p{Lt}\p{Lo}]/u.test(word));
}

/** The language of a short text; undefined if its words exist in several scripts or are not known. */
function likelyLanguage(text: string): Language | undefined {
  const { found } = findPhrases(text);
  const languages = LANGUAGES.filter((one) => found.some(({ language }) => language === one));
  if (languages.length > 0) return languages.includes("en") ? "en" : languages[0];
  return SCRIPTS.find(([script]) => script.test(text))?.[1];
}
