import { Chats } from "../../chats/chats/chats";
import { Messages, type Message } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";
import { languageOfAnswer } from "../../platform/language/answer-language";
import type { Language } from "../../platform/language/detect-language";
import type { ModelMessage } from "../../platform/ports/text-model";
import { recordFailedAnswer } from "./failed-answer";
import { spokenIn } from "./history";
import { storeIfUnanswered, type AnswerableTurn } from "./store-answer";

export const APOLOGIES: Readonly<Record<Language, string>> = {
  en: "I'm sorry, I can't answer right now. Please try again in a moment.",
  de: "Entschuldigung, ich kann gerade nicht antworten. Bitte versuchen Sie es gleich noch einmal.",
  fr: "Désolé, je ne peux pas répondre pour le moment. Veuillez réessayer dans un instant.",
  es: "Lo siento, ahora no puedo responder. Vuelva a intentarlo en un momento, por favor.",
  it: "Mi dispiace, al momento non posso rispondere. La prego di riprovare tra poco.",
  nl: "Sorry, ik kan nu even geen antwoord geven. Probeer het over een ogenblik opnieuw.",
  pt: "Desculpe, não consigo responder agora. Tente novamente daqui a pouco, por favor.",
  pl: "Przepraszam, nie mogę teraz odpowiedzieć. Proszę spróbować ponownie za chwilę.",
  tr: "Üzgünüm, şu anda yanıt veremiyorum. Lütfen birazdan tekrar deneyin.",
  ar: "عذرًا، لا أستطيع الإجابة الآن. يُرجى المحاولة مرة أخرى بعد قليل.",
  he: "מצטערים, אין אפשרות לענות כרגע. נסו שוב בעוד רגע.",
  ja: "申し訳ありません。ただいまお答えできません。しばらくしてからもう一度お試しください。",
  ko: "죄송합니다. 지금은 답변할 수 없습니다. 잠시 후 다시 시도해 주세요.",
  zh: "抱歉，我现在无法回答。请稍后再试。",
};

/** The message to a person if no answer can be generated, in the language of the conversation. */
export async function apologyFor(messages: readonly ModelMessage[]): Promise<string> {
  const said = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return APOLOGIES[await languageOfAnswer(said, { messages, texts: () => Promise.resolve([]) })];
}

/** Posts an apology and logs the error. @returns false if another worker has answered */
export async function apologize(
  scope: Scope,
  turn: AnswerableTurn,
  history: readonly Message[],
  error: Error,
): Promise<boolean> {
  await recordFailedAnswer(scope, turn.chat.id, error);
  const content = await apologyFor(spokenIn(history));
  return storeIfUnanswered(scope, turn, { content, metadata: { ...turn.metadata, error: true } });
}

/** Apologizes for an unanswered message. Reads as little as possible, because a read may be what failed. */
export async function giveUpTurn(scope: Scope, chatId: string): Promise<void> {
  const chat = await scope.of(Chats).row(chatId);
  const history = await scope.of(Messages).history(chatId);
  const upTo = history.findLast(({ role }) => role === "USER")?.sequence ?? 0;
  if (!chat || upTo <= chat.answeredSequence) return;
  const turn: AnswerableTurn = { chat, answered: chat.answeredSequence, upTo, metadata: {} };
  await apologize(scope, turn, history, new Error("The turn was given up: all attempts to answer failed."));
}
