import type { Language } from "../language/detect-language";
import type { ModelRequest } from "../ports/text-model";
import { languageOfAnswer } from "../language/answer-language";
import type { Remark } from "../language/local-phrases";
import { findPhrases } from "../language/remarks";

interface Understanding {
  readonly remarks: ReadonlySet<Remark>;
  /** The message without the remarks. */
  readonly rest: string;
  /** Language to answer in. */
  readonly language: Language;
}

/** A note of the service about the conversation, such as a silent caller. */
const NOTE = /^\(Note: [^]*\)$/;

/** Recognizes greetings and similar remarks in a message, and the language to answer it in. */
export async function understand(
  said: string,
  request: Pick<ModelRequest, "messages" | "texts">,
): Promise<Understanding> {
  if (NOTE.test(said))
    return { remarks: new Set<Remark>(["hello"]), rest: "", language: await languageOfAnswer("", request) };
  const { found, rest } = findPhrases(said);
  const language = await languageOfAnswer(said, request);
  const own = found.filter((phrase) => phrase.language === language);
  const remarks = new Set((own.length > 0 ? own : found).map(({ remark }) => remark));
  return { remarks, rest, language };
}
