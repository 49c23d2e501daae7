const OPENS = "<think>";
const CLOSES = "</think>";

/** What of an answer may be shown. */
export interface Shown {
  readonly text: string;
  /** Whether all that was shown before this text turned out to be a thought. */
  readonly withdrawn: boolean;
}

/**
 * Leaves out what a model thinks between `<think>` and `</think>`, wherever the pieces of its answer are cut. Templates
 * such as DeepSeek-R1's put `<think>` at the end of the prompt: then only `</think>` comes, and all before it is a thought.
 */
export class ThinkFilter {
  /** May begin a tag that the next piece ends. */
  private held = "";
  private thinking: boolean;
  private said = false;
  private thought = false;
  /** What came of an answer that is taken for a thought from its beginning, until its tag has come. */
  private unopened: string | undefined;
  /** Whether `</think>` came that no `<think>` had opened. */
  closedOnly = false;

  /** @param thinks whether the model is known to think without `<think>` */
  constructor(thinks = false) {
    this.thinking = thinks;
    if (thinks) this.unopened = "";
  }

  add(piece: string): Shown {
    this.held += piece;
    let text = "";
    let withdrawn = false;
    for (;;) {
      const found = (this.thinking ? /<\/think>/i : /<\/?think>/i).exec(this.held);
      const tags = this.thinking ? [CLOSES] : [OPENS, CLOSES];
      const held = Math.max(...tags.map((tag) => beginningOf(tag, this.held)));
      const end = found ? found.index : this.held.length - held;
      if (!this.thinking) text += this.held.slice(0, end);
      else if (this.unopened !== undefined) this.unopened += this.held.slice(0, end);
      this.held = this.held.slice(found ? end + found[0].length : end);
      if (!found) return { text: this.trimmed(text), withdrawn };
      const closes = found[0].length === CLOSES.length;
      if (closes && !this.thinking) {
        withdrawn ||= this.said;
        this.said = false;
        text = "";
      }
      this.closedOnly ||= closes && (!this.thinking || this.unopened !== undefined);
      this.unopened = undefined;
      this.thinking = !closes;
      this.thought = true;
    }
  }

  /**
   * The end of the answer: what was held is no tag, and what was taken for a thought from the beginning is none if the
   * model was not cut in it.
   */
  end(cut = false): string {
    const rest = this.thinking ? (cut ? "" : (this.unopened ?? "")) : "";
    const held = this.thinking && rest === "" ? "" : this.held;
    this.held = "";
    return this.trimmed(rest + held);
  }

  /** An answer does not begin with the blank lines that follow a thought. */
  private trimmed(text: string): string {
    const shown = this.thought && !this.said ? text.trimStart() : text;
    this.said ||= shown !== "";
    return shown;
  }
}

/** How many characters at the end of a text begin the tag. */
function beginningOf(tag: string, text: string): number {
  const end = text.slice(1 - tag.length).toLowerCase();
  for (let length = end.length; length > 0; length--) if (tag.startsWith(end.slice(-length))) return length;
  return 0;
}
