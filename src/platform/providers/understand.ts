import { detectLanguage, LANGUAGES, type Language } from "../language/detect-language";
import type { ModelMessage } from "../ports/text-model";
import { PHRASES, type Remark } from "./local-phrases";

interface Understanding {
  readonly remarks: ReadonlySet<Remark>;
  /** The message without the remarks. */
  readonly rest: string;
  /** Language to answer in. */
  readonly language: Language;
}

interface Phrase {
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
/** A note of the service about the conversation, such as a silent caller. */
const NOTE = /^\(Note: [^]*\)$/;
const EDGE = /[\s\p{P}\p{S}]/u;
const UNSPACED = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u;

/** Recognizes greetings and similar remarks in a message, and its language. */
export async function understand(said: string, messages: readonly ModelMessage[]): Promise<Understanding> {
  if (NOTE.test(said))
    return { remarks: new Set<Remark>(["hello"]), rest: "", language: await languageOf("", messages, []) };
  const found: Phrase[] = [];
  let rest = said.normalize("NFKC").replaceAll("’", "'");
  if (rest.length <= MAX_REMARK_LENGTH)
    for (const phrase of ALL) {
      const without = withoutPhrase(rest, phrase);
      if (without === undefined) continue;
      // The same words in other languages only add to the languages that it may be.
      found.push(...ALL.filter(({ text }) => text === phrase.text));
      rest = without;
    }
  const language = await languageOf(said, messages, found);
  const own = found.filter((phrase) => phrase.language === language);
  const remarks = new Set((own.length > 0 ? own : found).map(({ remark }) => remark));
  return { remarks, rest: rest.trim(), language };
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

/** The language of the person, else of the remark, else of what the assistant said before. */
async function languageOf(
  said: string,
  messages: readonly ModelMessage[],
  found: readonly Phrase[],
): Promise<Language> {
  const of = (role: ModelMessage["role"]) =>
    detectLanguage(messages.flatMap((message) => (message.role === role ? message.content : [])).join("\n"));
  const [person, assistant] = [await of("user"), await of("assistant")];
  const candidates = found.map(({ language }) => language);
  const sure = [person, assistant].flatMap((one) => (one?.isReliable ? one.language : []));
  if (candidates.length > 0) return sure.find((one) => candidates.includes(one)) ?? candidates[0]!;
  return sure[0] ?? (await detectLanguage(said))?.language ?? assistant?.language ?? "en";
}
