import { FirstPlaces } from "./first-places";

/** What a whole text may ask for. */
export type Wish = "STOP" | "START" | "HELP" | "CALL";

const STOP = "stop stopp stopall stop-all unsubscribe cancel end quit optout opt-out revoke arret arrêt";
const WORDS: Readonly<Record<string, Wish>> = Object.fromEntries([
  ...STOP.split(" ").map((word) => [word, "STOP"] as const),
  ...["start", "unstop", "subscribe"].map((word) => [word, "START"] as const),
  ...["help", "info", "hilfe", "aide", "ayuda"].map((word) => [word, "HELP"] as const),
]);
/** Wanted texts again, of somebody who wanted none; of all others it is an answer. */
const YES = /^(yes|ja|oui|si|sí)$/;

const CALL = [
  /^(please )?(can you |could you )?(call|phone|ring)( me)?( back)?( now)?( please)?$/,
  /^(bitte )?(ruf(t|en sie)?|rufe) mich( bitte)?( zurück)?( an)?( bitte)?$/,
  /^(bitte )?(um )?rückruf( bitte)?$/,
  /^(appelez|appelle)[- ]moi( svp| s'il vous plaît)?$/,
  /^ll[aá]m[ea]me( por favor)?$/,
  /^(mi )?chiam(ami|ate(mi)?)( per favore)?$/,
];

/** Only a text that consists of such words is a wish: «please stop by tomorrow» is none. */
export function wishIn(text: string, optedOut: boolean): Wish | undefined {
  const said = text
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/[.,!?]/g, " ")
    .trim()
    .replace(/\s+/g, " ");
  if (optedOut && YES.test(said)) return "START";
  if (CALL.some((form) => form.test(said))) return "CALL";
  return Object.hasOwn(WORDS, said) ? WORDS[said] : undefined;
}

/**
 * Whose keyword comes first in a text: as a whole word, in any case; of two at the same place the longer one. Takes time
 * in proportion to the text and the keywords.
 * @param keywords of each, separated by commas or line breaks
 */
export function firstNamed<T extends { readonly keywords: string }>(
  text: string,
  candidates: readonly T[],
): T | undefined {
  const places = new FirstPlaces(wordsOf(text));
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

/** What is answered without an assistant. */
export const SENTENCES = {
  stopped: "You will get no more messages from this number. Text START to get them again.",
  started: "You will get messages from this number again. Text HELP for help, STOP to stop.",
  help: "An automatic assistant answers messages to this number. Text STOP to get no more messages, START to get them again. Message and data rates may apply.",
  switchedOff: "This number takes no text messages at the moment.",
  calling: "We are calling you now.",
  busy: "Sorry, we can't take more conversations at the moment. Please try again later.",
  notCallable: "Sorry, we can't call your number.",
} as const;
