/** Time between lines in a file or a pipe, in milliseconds. A terminal shows one line that changes. */
const LINE_MS = 5_000;
/** Time in which a sentence is said once, in milliseconds: requests at once wait for the same reason. */
const SAME_MS = 500;

/** Shows on standard error how far an import is. */
export class Progress {
  private readonly isTerminal = process.stderr.isTTY;
  private shownAt = performance.now();
  private isOpen = false;
  private said = { line: "", at: 0 };

  readonly show = (line: string): void => {
    if (this.isTerminal) {
      process.stderr.write(`\r\u001b[K${line}`);
      this.isOpen = true;
    } else if (performance.now() - this.shownAt >= LINE_MS) {
      console.error(`In progress: ${line}.`);
      this.shownAt = performance.now();
    }
  };

  readonly say = (line: string): void => {
    const at = performance.now();
    if (line === this.said.line && at - this.said.at < SAME_MS) return;
    this.said = { line, at };
    this.end();
    console.error(line);
  };

  /** Ends the line that changes. */
  end(): void {
    if (this.isOpen) process.stderr.write("\n");
    this.isOpen = false;
  }
}
