import type { Said } from "../../platform/ports/voice-engine";

/** A transcript, as it was reported. */
export interface Heard extends Said {
  /** When it was said, in milliseconds by the engine's clock. */
  readonly at?: number;
}

/** A turn of the whole transcript. */
export interface Turn extends Said {
  readonly at?: number;
  /** Whether the words are those of a transcript, or else of a report of the conversation. */
  readonly transcribed: boolean;
}

/** A transcript whose words differ in part from the report's belongs to them if so many of the words agree. */
const ALIKE = 0.6;
const WORD = /[\p{L}\p{N}']+/gu;

export const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];

/**
 * The words of a call, which depend on the set of reports and not on their order. The report of the conversation gives
 * the order, and what no transcript has; a transcript that the report lacks takes its place by time.
 */
export function wholeTranscript(heard: readonly Heard[], told: readonly Said[]): Turn[] {
  const blocks = blocksOf(told).map((said) => new Block(said));
  const byLength = heard
    .map((one) => ({ one, words: wordsOf(one.text) }))
    .sort((a, b) => b.words.length - a.words.length || timeOf(a.one) - timeOf(b.one));
  const unplaced = byLength.filter(({ one, words }) => {
    const theirs = blocks.filter(({ said }) => said.role === one.role);
    const place = (claim: (block: Block) => boolean) => theirs.some(claim);
    return !(
      place((block) => block.claimAll(one, words)) ||
      place((block) => block.claimRun(one, words)) ||
      place((block) => block.claimAlike(one, words))
    );
  });
  const turns = blocks.flatMap((block) => block.turns());
  const order = (one: Heard) => heard.indexOf(one);
  const rest = unplaced.map(({ one }) => one).sort((a, b) => timeOf(a) - timeOf(b) || order(a) - order(b));
  for (const one of rest) {
    const next = turns.findIndex(({ at }) => at !== undefined && at > timeOf(one));
    turns.splice(next < 0 ? turns.length : next, 0, { ...one, transcribed: true });
  }
  return turns;
}

/** What comes without a time comes last. */
const timeOf = ({ at }: Heard): number => at ?? Number.MAX_SAFE_INTEGER;

/** One block for all that one side said until the other spoke. */
export function blocksOf(list: readonly Said[]): Said[] {
  const blocks: Said[] = [];
  for (const said of list) {
    const last = blocks.at(-1);
    if (last?.role === said.role)
      blocks[blocks.length - 1] = { role: said.role, text: `${last.text} ${said.text}` };
    else blocks.push(said);
  }
  return blocks;
}

/** All that one side said until the other spoke, and which transcripts have its words. */
class Block {
  private readonly words: readonly { readonly word: string; readonly start: number }[];
  private readonly owners: (Heard | undefined)[];

  constructor(readonly said: Said) {
    this.words = [...said.text.matchAll(WORD)].map((match) => ({
      word: match[0].toLowerCase(),
      start: match.index,
    }));
    this.owners = this.words.map(() => undefined);
  }

  /** Takes the whole block, if no other transcript has a part of it. */
  claimAll(one: Heard, words: readonly string[]): boolean {
    return words.length === this.words.length && this.claimRun(one, words);
  }

  /** Takes the first free words that are the same. */
  claimRun(one: Heard, words: readonly string[]): boolean {
    if (words.length === 0) return false;
    const start = this.words.findIndex((_, from) =>
      words.every((word, index) => this.isFree(from + index, word)),
    );
    return start >= 0 && this.claim(one, start, start + words.length);
  }

  /** Takes free words of which most are the same. */
  claimAlike(one: Heard, words: readonly string[]): boolean {
    const wanted = new Set(words);
    const found = this.words.flatMap(({ word }, index) =>
      wanted.has(word) && this.isFree(index) ? [index] : [],
    );
    const [start, end] = [found[0], found.at(-1)];
    if (start === undefined || end === undefined) return false;
    const length = end + 1 - start;
    const free = this.owners.slice(start, end + 1).every((owner) => owner === undefined);
    return free && found.length >= ALIKE * Math.max(words.length, length) && this.claim(one, start, end + 1);
  }

  /** What was said, transcript by transcript, and what none of them has. */
  turns(): Turn[] {
    const { role, text } = this.said;
    if (this.words.length === 0) return [{ role, text, transcribed: false }];
    const starts = this.owners.flatMap((owner, index) =>
      index === 0 || owner !== this.owners[index - 1] ? [index] : [],
    );
    return starts.map((from, index) => {
      const owner = this.owners[from];
      if (owner) return { ...owner, transcribed: true };
      const until = starts[index + 1];
      const end = until === undefined ? undefined : this.words[until]!.start;
      return {
        role,
        text: text.slice(from === 0 ? 0 : this.words[from]!.start, end).trim(),
        transcribed: false,
      };
    });
  }

  private isFree(index: number, word?: string): boolean {
    const here = this.words[index];
    return (
      here !== undefined && this.owners[index] === undefined && (word === undefined || here.word === word)
    );
  }

  private claim(one: Heard, start: number, end: number): true {
    this.owners.fill(one, start, end);
    return true;
  }
}
