const OPENS = "<think>";
const CLOSES = "</think>";

/** Text of an answer without reasoning. */
export interface VisibleText {
  readonly text: string;
  /** Whether all earlier text turned out to be reasoning. */
  readonly withdrawn: boolean;
}

/**
 * Removes a model's reasoning between `<think>` and `</think>`, even if a tag is split between pieces of the answer. Prompt
 * templates such as DeepSeek-R1's end with `<think>`: then only `</think>` appears, and all text before it is reasoning.
 */
export class ThinkFilter {
  /** End of the last piece that may be the beginning of a tag. */
  private held = "";
  private thinking: boolean;
  private said = false;
  private thought = false;
  /** Text so far of an answer that is assumed to begin with reasoning, until its closing tag appears. */
  private unopened: string | undefined;
  /** Whether a `</think>` appeared without an opening `<think>`. */
  closedOnly = false;

  /** @param thinks whether the model is known to begin with reasoning without `<think>` */
  constructor(thinks = false) {
    this.thinking = thinks;
    if (thinks) this.unopened = "";
  }

  /** Adds the next piece of the answer. @returns the text to show */
  add(piece: string): VisibleText {
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
   * Ends the answer. @returns the remaining text: an incomplete tag is text, and so is assumed reasoning without a closing
   * tag unless the answer was cut off.
   */
  end(cut = false): string {
    const rest = this.thinking ? (cut ? "" : (this.unopened ?? "")) : "";
    const held = this.thinking && rest === "" ? "" : this.held;
    this.held = "";
    return this.trimmed(rest + held);
  }

  /** Removes the blank lines between reasoning and the answer. */
  private trimmed(text: string): string {
    const shown = this.thought && !this.said ? text.trimStart() : text;
    this.said ||= shown !== "";
    return shown;
  }
}

/** Number of characters at the end of a text that are the beginning of a tag. */
function beginningOf(tag: string, text: string): number {
  const end = text.slice(1 - tag.length).toLowerCase();
  for (let length = end.length; length > 0; length--) if (tag.startsWith(end.slice(-length))) return length;
  return 0;
}
