/** What the person says in a simulated call if the call's metadata has no script. */
const DEFAULT_LINES = ["Hello? Who is this?", "What can you do for me?", "All right, thank you. Goodbye!"];

interface Script {
  readonly lines: readonly string[];
  /** Why a part of the given script is ignored; undefined if none is. */
  readonly problem?: string;
}

const USUAL = "so the simulated person says the usual lines";
const FORM = "must be a text with line breaks or a list of texts";

/** Reads `simulatedCustomer` of a call's metadata: a text with line breaks, or a list of texts. */
export function readScript({ simulatedCustomer: given }: Readonly<Record<string, unknown>>): Script {
  if (given === undefined || given === null) return { lines: DEFAULT_LINES };
  const items: readonly unknown[] = typeof given === "string" ? given.split(/\r\n|\r|\n/) : [given].flat();
  const texts = items.filter((item): item is string => typeof item === "string");
  const isWhole = texts.length === items.length;
  const lines = texts.filter((line) => line.trim() !== "");
  if (lines.length === 0)
    return { lines: DEFAULT_LINES, problem: `${isWhole ? "has no line" : FORM}, ${USUAL}` };
  return isWhole ? { lines } : { lines, problem: `${FORM}; the other items are left out` };
}
