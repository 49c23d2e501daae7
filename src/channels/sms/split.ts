/** Most characters in one text at the provider, and most segments that a text is made of on its way to a telephone. */
const MOST_CHARACTERS = 1_600;
const MOST_SEGMENTS = 10;
/** In one of several segments: 7-bit characters of the GSM alphabet, or UTF-16 code units where one is not of it. */
const SEGMENT = { gsm: 153, unicode: 67 } as const;
/** Stands for the number of a part at its end. */
const NUMBER = " (999/999)";

const GSM =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/** These take two places. */
const GSM_EXTENDED = "\f^{}\\[~]|€";
const cost = new Map([
  ...[...GSM].map((one) => [one, 1] as const),
  ...[...GSM_EXTENDED].map((one) => [one, 2] as const),
]);

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Whether every character of a text is of the GSM alphabet: twice as many fit into a segment then. */
export const isGsm = (text: string): boolean => [...text].every((one) => cost.has(one));

/** Whether a text is one that can be sent. What takes two places is never parted by two segments. */
function fits(text: string, gsm: boolean): boolean {
  if (text.length > MOST_CHARACTERS) return false;
  const segment = gsm ? SEGMENT.gsm : SEGMENT.unicode;
  let [segments, left] = [0, 0];
  for (const one of text) {
    const size = gsm ? (cost.get(one) ?? 1) : one.length;
    if (size > left) [segments, left] = [segments + 1, segment];
    left -= size;
  }
  return segments <= MOST_SEGMENTS;
}

/**
 * A text in parts that can be sent: each at most 10 segments and 1,600 characters. It is cut between paragraphs,
 * else sentences, else words, and inside a word only where that is longer than a part; never inside a character that
 * a reader sees. Several parts are numbered, as they may arrive in another order.
 */
export function split(text: string): string[] {
  const whole = text.trim();
  if (whole === "") return [];
  const gsm = isGsm(whole);
  if (fits(whole, gsm)) return [whole];
  const parts = pack(whole, (part) => fits(part + NUMBER, gsm), CUTS);
  return parts.map((part, index) => `${part} (${index + 1}/${parts.length})`);
}

type Cut = (text: string) => string[];

/** Where a text may be cut, the best places first. Each keeps what stands between two pieces at the end of the first. */
const CUTS: readonly Cut[] = [
  (text) => text.split(/(?<=\n\s*\n)/),
  (text) => text.split(/(?<=\n)/),
  (text) => [...sentences.segment(text)].map(({ segment }) => segment),
  (text) => text.split(/(?<=\s)/),
  (text) => [...graphemes.segment(text)].map(({ segment }) => segment),
];

/** As few parts as may be, each as long as it can be; a piece that does not fit alone is cut at the next best places. */
function pack(text: string, fits: (part: string) => boolean, [cut, ...finer]: readonly Cut[]): string[] {
  const parts: string[] = [];
  let open = "";
  const close = () => {
    if (open.trim() !== "") parts.push(open.trim());
    open = "";
  };
  for (const piece of cut!(text)) {
    if (fits((open + piece).trim())) {
      open += piece;
      continue;
    }
    close();
    if (fits(piece.trim()) || finer.length === 0) {
      open = piece;
      continue;
    }
    const inner = pack(piece, fits, finer);
    parts.push(...inner.slice(0, -1));
    open = `${inner.at(-1) ?? ""} `;
  }
  close();
  return parts;
}
