const OPENS = "<think>";
const CLOSES = "</think>";

/** Leaves out what a model thinks between `<think>` and `</think>`, wherever the pieces of its answer are cut. */
export class ThinkFilter {
  /** May begin a tag that the next piece ends. */
  private held = "";
  private thinking = false;
  private said = false;
  private thought = false;

  /** @returns what of the answer so far may be shown */
  add(piece: string): string {
    this.held += piece;
    let shown = "";
    for (;;) {
      const tag = this.thinking ? CLOSES : OPENS;
      const at = this.held.search(this.thinking ? /<\/think>/i : /<think>/i);
      const end = at >= 0 ? at : this.held.length - beginningOf(tag, this.held);
      if (!this.thinking) shown += this.held.slice(0, end);
      this.held = this.held.slice(at >= 0 ? at + tag.length : end);
      if (at < 0) return this.trimmed(shown);
      this.thinking = !this.thinking;
      this.thought = true;
    }
  }

  /** The end of the answer: what was held is no tag. */
  end(): string {
    const rest = this.thinking ? "" : this.held;
    this.held = "";
    return this.trimmed(rest);
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
