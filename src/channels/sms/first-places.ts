interface State {
  readonly next: Map<string, number>;
  /** Length of the longest phrase that leads here. */
  readonly length: number;
  /** The state of the longest phrases that end these and lead elsewhere. */
  link: number;
  /** Where the phrases of this state first end. */
  readonly end: number;
}

const NONE = -1;

/**
 * Finds where phrases first stand in a list of words: a suffix automaton, built in linear time, in which each phrase is
 * looked up in as many steps as it has words.
 */
export class FirstPlaces {
  private readonly states: State[] = [{ next: new Map(), length: 0, link: NONE, end: NONE }];
  private last = 0;

  constructor(words: readonly string[]) {
    words.forEach((word, index) => this.append(word, index));
  }

  /** The index of the first word of the phrase where it first stands; undefined where it stands nowhere. */
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
    if (from !== NONE) states[added]!.link = this.ending(from, word);
  }

  /** The state of exactly the phrases of `from` with the word behind them; divided from one that has longer ones too. */
  private ending(from: number, word: string): number {
    const { states } = this;
    const shared = states[from]!.next.get(word)!; // the caller found it
    const { next, length, link, end } = states[shared]!;
    if (length === states[from]!.length + 1) return shared;
    const divided = this.add({ next: new Map(next), length: states[from]!.length + 1, link, end });
    states[shared]!.link = divided;
    for (let at = from; at !== NONE && states[at]!.next.get(word) === shared; at = states[at]!.link)
      states[at]!.next.set(word, divided);
    return divided;
  }

  private add(state: State): number {
    return this.states.push(state) - 1;
  }
}
