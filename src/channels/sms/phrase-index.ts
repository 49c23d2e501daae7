interface State {
  readonly next: Map<string, number>;
  /** Length of the longest phrase that ends in this state. */
  readonly length: number;
  /** State of the longest suffix of these phrases that ends in another state. */
  link: number;
  /** Index of the last word of the first occurrence. */
  readonly end: number;
}

const NONE = -1;

/**
 * Finds the first occurrence of phrases in a list of words. A suffix automaton, built in linear time; looking up a
 * phrase takes one step per word.
 */
export class PhraseIndex {
  private readonly states: State[] = [{ next: new Map(), length: 0, link: NONE, end: NONE }];
  private last = 0;

  constructor(words: readonly string[]) {
    words.forEach((word, index) => this.append(word, index));
  }

  /** Index of the first word of the first occurrence; undefined if there is none. */
  of(phrase: readonly string[]): number | undefined {
    let state = this.states[0]!;
    for (const word of phrase) {
      const next = state.next.get(word);
      if (next === undefined) return undefined;
      state = this.states[next]!;
    }
    return state.end - phrase.length + 1;
  }

  private append(word: string, end: number): void {
    const { states } = this;
    const added = this.add({ next: new Map(), length: states[this.last]!.length + 1, link: 0, end });
    let from = this.last;
    this.last = added;
    for (; from !== NONE && !states[from]!.next.has(word); from = states[from]!.link)
      states[from]!.next.set(word, added);
    if (from !== NONE) states[added]!.link = this.split(from, word);
  }

  /**
   * The state of exactly the phrases of `from` followed by the word, split from a state that also has longer ones.
   */
  private split(from: number, word: string): number {
    const { states } = this;
    const shared = states[from]!.next.get(word)!; // the caller has found this transition
    const { next, length, link, end } = states[shared]!;
    if (length === states[from]!.length + 1) return shared;
    const clone = this.add({ next: new Map(next), length: states[from]!.length + 1, link, end });
    states[shared]!.link = clone;
    for (let at = from; at !== NONE && states[at]!.next.get(word) === shared; at = states[at]!.link)
      states[at]!.next.set(word, clone);
    return clone;
  }

  private add(state: State): number {
    return this.states.push(state) - 1;
  }
}
