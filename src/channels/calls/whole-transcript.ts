import type { Utterance } from "../../platform/ports/voice-engine";

/** A single transcript, as reported by the engine. */
export interface TimedUtterance extends Utterance {
  /** Time of speaking by the engine's clock, in ms since 1970. */
  readonly at?: number;
}

/** A turn of the whole transcript. */
export interface Turn extends Utterance {
  readonly at?: number;
  /** Whether the words come from a single transcript rather than a report of the conversation. */
  readonly transcribed: boolean;
}

/** Minimum share of matching words for a transcript to count as a part of the report. */
const MIN_SIMILARITY = 0.6;
const WORD = /[\p{L}\p{N}']+/gu;

export const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];

/**
 * The words of a call; the result depends on the set of reports, not on their order of arrival. The report of the
 * conversation gives the order and words that no transcript has; transcripts that it lacks are inserted by time.
 */
export function wholeTranscript(heard: readonly TimedUtterance[], told: readonly Utterance[]): Turn[] {
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
  const order = (one: TimedUtterance) => heard.indexOf(one);
  const rest = unplaced.map(({ one }) => one).sort((a, b) => timeOf(a) - timeOf(b) || order(a) - order(b));
  for (const one of rest) {
    const next = turns.findIndex(({ at }) => at !== undefined && at > timeOf(one));
    turns.splice(next < 0 ? turns.length : next, 0, { ...one, transcribed: true });
  }
  return turns;
}

/** Transcripts without a time come last. */
const timeOf = ({ at }: TimedUtterance): number => at ?? Number.MAX_SAFE_INTEGER;

/** Merges consecutive words of the same speaker into one block. */
export function blocksOf(list: readonly Utterance[]): Utterance[] {
  const blocks: Utterance[] = [];
  for (const said of list) {
    const last = blocks.at(-1);
    if (last?.role === said.role)
      blocks[blocks.length - 1] = { role: said.role, text: `${last.text} ${said.text}` };
    else blocks.push(said);
  }
  return blocks;
}

/** The words of one speaker until the other speaks, each assigned to at most one transcript. */
class Block {
  private readonly words: readonly { readonly word: string; readonly start: number }[];
  private readonly owners: (TimedUtterance | undefined)[];

  constructor(readonly said: Utterance) {
    this.words = [...said.text.matchAll(WORD)].map((match) => ({
      word: match[0].toLowerCase(),
      start: match.index,
    }));
    this.owners = this.words.map(() => undefined);
  }

  /** Assigns the whole block to a transcript, if none of it is assigned yet. */
  claimAll(one: TimedUtterance, words: readonly string[]): boolean {
    return words.length === this.words.length && this.claimRun(one, words);
  }

  /** Assigns the first free run of identical words. */
  claimRun(one: TimedUtterance, words: readonly string[]): boolean {
    if (words.length === 0) return false;
    const start = this.words.findIndex((_, from) =>
      words.every((word, index) => this.isFree(from + index, word)),
    );
    return start >= 0 && this.claim(one, start, start + words.length);
  }

  /** Assigns a free run in which most words match. */
  claimAlike(one: TimedUtterance, words: readonly string[]): boolean {
    const wanted = new Set(words);
    const found = this.words.flatMap(({ word }, index) =>
      wanted.has(word) && this.isFree(index) ? [index] : [],
    );
    const [start, end] = [found[0], found.at(-1)];
    if (start === undefined || end === undefined) return false;
    const length = end + 1 - start;
    const free = this.owners.slice(start, end + 1).every((owner) => owner === undefined);
    return (
      free &&
      found.length >= MIN_SIMILARITY * Math.max(words.length, length) &&
      this.claim(one, start, end + 1)
    );
  }

  /** The turns of this block: one per transcript, and one per run of unassigned words. */
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

  private claim(one: TimedUtterance, start: number, end: number): true {
    this.owners.fill(one, start, end);
    return true;
  }
}
