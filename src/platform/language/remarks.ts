import { LANGUAGES, type Language } from "./detect-language";
import { PHRASES, type Remark } from "./local-phrases";

/** A phrase of the local model in one language. */
export interface Phrase {
  readonly text: string;
  readonly remark: Remark;
  readonly language: Language;
}

/** All phrases, longest first, because some are part of others. */
const ALL: readonly Phrase[] = LANGUAGES.flatMap((language) =>
  Object.entries(PHRASES[language].heard).flatMap(([remark, list]) =>
    list.split(",").map((text) => ({ text, remark: remark as Remark, language })),
  ),
).sort((a, b) => b.text.length - a.text.length);

/** Longer messages have words such as "no" as part of sentences. In characters. */
const MAX_REMARK_LENGTH = 200;
const EDGE = /[\s\p{P}\p{S}]/u;
const UNSPACED = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u;

/** Finds the phrases in a message. A phrase of several languages is found in each of them. */
export function findPhrases(said: string): { readonly found: readonly Phrase[]; readonly rest: string } {
  const found: Phrase[] = [];
  let rest = said.normalize("NFKC").replaceAll("’", "'");
  if (rest.length > MAX_REMARK_LENGTH) return { found, rest };
  for (const phrase of ALL) {
    const without = withoutPhrase(rest, phrase);
    if (without === undefined) continue;
    found.push(...ALL.filter(({ text }) => text === phrase.text));
    rest = without;
  }
  return { found, rest: rest.trim() };
}

/** The text without a phrase; undefined if it does not contain it as whole words. */
function withoutPhrase(text: string, { text: phrase, remark }: Phrase): string | undefined {
  const lower = text.toLowerCase();
  const at = lower.indexOf(phrase);
  if (at < 0 || lower.length !== text.length) return undefined;
  const [before, after] = [text.slice(0, at), text.slice(at + phrase.length)];
  const isAlone = /(^|[\p{P}\p{S}]\s?)$/u.test(before) && /^\s?($|[\p{P}\p{S}])/u.test(after);
  const isWhole = (before === "" || EDGE.test(before.at(-1)!)) && (after === "" || EDGE.test(after[0]!));
  const begins = before === "" && UNSPACED.test(phrase);
  // Words such as "no" and "help" are part of many questions.
  const fits = remark === "nod" || remark === "who" ? isAlone : isWhole || begins;
  return fits ? `${before} ${after}` : undefined;
}
