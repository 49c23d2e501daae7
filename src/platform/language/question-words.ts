import type { Language } from "./detect-language";

const list = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/**
 * Words that say nothing about the topic of a question and are not among the stop words of PostgreSQL, which has none
 * for Polish, Hebrew, Korean, Chinese and Japanese.
 */
const SPACED: Partial<Readonly<Record<Language, ReadonlySet<string>>>> = {
  ar: list(
    "هل متى أين اين كيف كم ما ماذا من لماذا أي يوجد توجد لديكم عندكم يمكن يمكنني أستطيع أنا لا لم أريد من فضلك",
  ),
  de: list("wann wo wie wieviel wer warum gibt haben hat kann können könnte möchte bitte es"),
  en: list("much many please there get tell know could would may need want like"),
  es: list(
    "cuándo cuando dónde donde cómo cuánto cuánta cuántos cuántas cuál cuáles qué quién por qué hay puedo puede tienen tiene favor quiero",
  ),
  fr: list(
    "quand sont ils elles où comment combien quel quelle quels quelles qui que quoi pourquoi est ce y a t il avez puis peut-on peux pouvez plaît je vous",
  ),
  it: list(
    "quando dove come quanto quanta quanti quante quale quali chi perché c è ci posso può avete vorrei favore",
  ),
  nl: list("wanneer waar hoe hoeveel welke wie waarom er kan kunnen heeft hebben u graag alstublieft"),
  pt: list(
    "quando onde como quanto quanta quantos quantas qual quais quem há existe posso pode têm tem favor quero",
  ),
  tr: list("ne zaman nerede nereye nasıl kaç hangi kim neden mi mı mu mü var lütfen istiyorum"),
  pl: list(
    "a aby ale bez być bym bo czy czym da dla do dzień gdzie go i ich ile ja jak jaka jaki jakie jest jestem jeśli już kiedy kto która które który macie mam mamy mi mnie mogę można możecie może mój na nam nas nie o od oraz po państwo pan pani przy proszę są się tak tam te tego tej ten to tu u w wam was wasze we z za ze że",
  ),
  he: list(
    "אבל או אולי אותו אותי אותך אז איזה איך אין איפה אם אנחנו אני אפשר אתה אתם את גם האם הוא היא זה זאת יש כל כמה לא לי לכם לנו מה מי מתי על עם צריך של שלי שלכם תודה אצלכם ניתן היכן",
  ),
  ko: list(
    "가능한가요 가능해요 나요 누가 되나요 됩니까 무엇 무엇을 무슨 뭐 뭐예요 수 알려주세요 어디 어디에 어디서 어디에서 어떤 어떻게 언제 언제까지 얼마 얼마나 얼마예요 여기 왜 이 있나요 있습니까 있어요 저 저는 제가 좀 할 해요 하나요 합니까",
  ),
};

/** The same for languages that are written without spaces; longer words first. */
const UNSPACED: Partial<Readonly<Record<Language, RegExp>>> = {
  zh: /什么时候|请问一下|请告诉我|有没有|能不能|可不可以|是不是|你们|我们|他们|您们|请问|什么|怎么样|怎么|怎样|如何|哪里|哪儿|哪个|多少|多久|几点|可以|能否|是否|可否|需要|应该|知道|告诉|为什么|我想|[的地得了吗呢吧啊是在有和与及或我你您他她它这那就都也还要会能想请]/g,
  ja: /ください|いつ|どこ|なに|何時|何|誰|どう|どの|どれ|教えて|お願い/g,
};

/** Removes question words from a text in lower case, unless nothing else is left. */
export function withoutQuestionWords(text: string, language: Language): string {
  const words = SPACED[language];
  const unspaced = UNSPACED[language];
  const rest = words
    ? text.replace(/[\p{L}\p{M}]+/gu, (word) => (words.has(word) ? " " : word))
    : unspaced
      ? text.replace(unspaced, " ")
      : text;
  return /[\p{L}\p{N}]/u.test(rest) ? rest : "";
}

/** Words about prices and about being new, in all languages: many questions and many passages have them. */
const COMMON = list(
  [
    "new price prices cost costs charge",
    "neu neue neuen neuer neues kostet kosten preis preise",
    "nouveau nouvel nouvelle prix coûte coûtent tarif tarifs",
    "nuevo nueva precio precios cuesta cuestan",
    "nuovo nuova prezzo prezzi costa costano",
    "novo nova preço preços custa custam",
    "nieuw nieuwe prijs prijzen kost",
    "nowy nowa nowe kosztuje kosztują",
    "yeni fiyat fiyatı",
    "جديد جديدة سعر تكلفة",
    "חדש חדשה מחיר עולה",
    "새 새로운 가격 가격은 가격이",
  ].join(" "),
);
const COMMON_UNSPACED = /新しい|値段|料金|価格|价格|價格|价钱/g;

/** A question without the words that do not tell its topic. It may have no words left. */
export const withoutCommonWords = (question: string): string =>
  question
    .replace(/[\p{L}\p{M}]+/gu, (word) => (COMMON.has(word.toLowerCase()) ? " " : word))
    .replace(COMMON_UNSPACED, " ");
