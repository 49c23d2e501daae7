import { PhraseIndex } from "./phrase-index";

/** Command that a whole text can express. */
export type SmsCommand = "STOP" | "START" | "HELP" | "CALL";

const STOP = "stop stopp stopall stop-all unsubscribe cancel end quit optout opt-out revoke arret arrêt";
const WORDS: Readonly<Record<string, SmsCommand>> = Object.fromEntries([
  ...STOP.split(" ").map((word) => [word, "STOP"] as const),
  ...["start", "unstop", "subscribe"].map((word) => [word, "START"] as const),
  ...["help", "info", "hilfe", "aide", "ayuda"].map((word) => [word, "HELP"] as const),
]);
/** Opts in again if the person has opted out; otherwise an ordinary answer. */
const YES = /^(yes|ja|oui|si|sí)$/;

const CALL = [
  /^(please )?(can you |could you )?(call|phone|ring)( me)?( back)?( now)?( please)?$/,
  /^(bitte )?(ruf(t|en sie)?|rufe) mich( bitte)?( zurück)?( an)?( bitte)?$/,
  /^(bitte )?(um )?rückruf( bitte)?$/,
  /^(appelez|appelle)[- ]moi( svp| s'il vous plaît)?$/,
  /^ll[aá]m[ea]me( por favor)?$/,
  /^(mi )?chiam(ami|ate(mi)?)( per favore)?$/,
];

/** The command in a text. Only a text that consists of nothing else counts: “please stop by tomorrow” does not. */
export function commandIn(text: string, optedOut: boolean): SmsCommand | undefined {
  const command = text
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/[.,!?]/g, " ")
    .trim()
    .replace(/\s+/g, " ");
  if (optedOut && YES.test(command)) return "START";
  if (CALL.some((form) => form.test(command))) return "CALL";
  return Object.hasOwn(WORDS, command) ? WORDS[command] : undefined;
}

/**
 * The candidate whose keyword comes first in a text: whole words, ignoring case; the longer keyword wins at the same
 * position. Takes time linear in the text and the keywords.
 * @param candidates `keywords` are separated by commas or line breaks
 */
export function firstNamed<T extends { readonly keywords: string }>(
  text: string,
  candidates: readonly T[],
): T | undefined {
  const places = new PhraseIndex(wordsOf(text));
  let first: { readonly candidate: T; readonly at: number; readonly length: number } | undefined;
  for (const candidate of candidates)
    for (const keyword of candidate.keywords.split(/[,\n]/)) {
      const phrase = wordsOf(keyword);
      const { length } = phrase;
      const at = length === 0 ? undefined : places.of(phrase);
      if (at === undefined) continue;
      if (!first || at < first.at || (at === first.at && length > first.length))
        first = { candidate, at, length };
    }
  return first?.candidate;
}

const wordsOf = (text: string): readonly string[] =>
  text
    .normalize("NFC")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/** Fixed answers, sent without an assistant. */
export const FIXED_ANSWERS = {
  stopped: "You will get no more messages from this number. Text START to get them again.",
  started: "You will get messages from this number again. Text HELP for help, STOP to stop.",
  help: "An automatic assistant answers messages to this number. Text STOP to get no more messages, START to get them again. Message and data rates may apply.",
  switchedOff: "This number takes no text messages at the moment.",
  calling: "We are calling you now.",
  busy: "Sorry, we can't take more conversations at the moment. Please try again later.",
  notCallable: "Sorry, we can't call your number.",
} as const;
