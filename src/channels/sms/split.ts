/** The provider's limits per text: characters, and segments on the way to the phone. */
const MAX_CHARACTERS = 1_600;
const MAX_SEGMENTS = 10;
/**
 * Capacity of one of several segments: 7-bit GSM characters, or UTF-16 code units if the text has other characters.
 */
const SEGMENT = { gsm: 153, unicode: 67 } as const;
/** Room reserved for the part number at the end. */
const PART_NUMBER = " (999/999)";

const GSM =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/** These cost two GSM characters. */
const GSM_EXTENDED = "\f^{}\\[~]|€";
const cost = new Map([
  ...[...GSM].map((one) => [one, 1] as const),
  ...[...GSM_EXTENDED].map((one) => [one, 2] as const),
]);

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Whether all characters are in the GSM alphabet, which more than doubles the capacity of a segment. */
export const isGsm = (text: string): boolean => [...text].every((one) => cost.has(one));

/** Whether a text fits the provider's limits. A character of two units is never split between segments. */
function fits(text: string, gsm: boolean): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  const segment = gsm ? SEGMENT.gsm : SEGMENT.unicode;
  let [segments, left] = [0, 0];
  for (const one of text) {
    const size = gsm ? (cost.get(one) ?? 1) : one.length;
    if (size > left) [segments, left] = [segments + 1, segment];
    left -= size;
  }
  return segments <= MAX_SEGMENTS;
}

/**
 * Splits a text into parts of at most 10 segments and 1,600 characters. It is cut between paragraphs, else sentences,
 * else words; inside a word only if the word exceeds a part, and never inside a grapheme. Several parts are numbered,
 * because they may arrive out of order.
 */
export function split(text: string): string[] {
  const whole = text.trim();
  if (whole === "") return [];
  const gsm = isGsm(whole);
  if (fits(whole, gsm)) return [whole];
  const parts = pack(whole, (part) => fits(part + PART_NUMBER, gsm), SPLITTERS);
  return parts.map((part, index) => `${part} (${index + 1}/${parts.length})`);
}

type Splitter = (text: string) => string[];

/** Possible cuts, best first. Separators stay at the end of the piece before them. */
const SPLITTERS: readonly Splitter[] = [
  (text) => text.split(/(?<=\n\s*\n)/),
  (text) => text.split(/(?<=\n)/),
  (text) => [...sentences.segment(text)].map(({ segment }) => segment),
  (text) => text.split(/(?<=\s)/),
  (text) => [...graphemes.segment(text)].map(({ segment }) => segment),
];

/** Packs pieces into as few parts as possible; a piece that does not fit alone is cut by the next finer rule. */
function pack(text: string, fits: (part: string) => boolean, [cut, ...finer]: readonly Splitter[]): string[] {
  const parts: string[] = [];
  let open = "";
  const flush = () => {
    if (open.trim() !== "") parts.push(open.trim());
    open = "";
  };
  for (const piece of cut!(text)) {
    if (fits((open + piece).trim())) {
      open += piece;
      continue;
    }
    flush();
    if (fits(piece.trim()) || finer.length === 0) {
      open = piece;
      continue;
    }
    const inner = pack(piece, fits, finer);
    parts.push(...inner.slice(0, -1));
    open = `${inner.at(-1) ?? ""} `;
  }
  flush();
  return parts;
}
