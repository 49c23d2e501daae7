import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";

/** The person has pressed Ctrl+C or Ctrl+D. */
export class AbortedError extends Error {
  constructor() {
    super("Aborted. Nothing was stored.");
  }
}

/** Asks a person at a terminal. */
export class Questions {
  private isMuted = false;
  private readonly lines: Interface;
  private readonly ending = new AbortController();

  constructor() {
    // The terminal echoes through this stream, so that a key can be typed unseen.
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.isMuted) process.stdout.write(chunk);
        done();
      },
    });
    this.lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
    for (const event of ["SIGINT", "close"]) this.lines.on(event, () => this.ending.abort());
  }

  /** @param initial the answer to an empty line */
  async ask(question: string, initial = ""): Promise<string> {
    const hint = initial === "" ? "" : ` [${initial}]`;
    const answer = await this.line(`${question}${hint}: `);
    return answer === "" ? initial : answer;
  }

  /** Asks without showing what is typed. */
  async askSecret(question: string): Promise<string> {
    process.stdout.write(`${question}: `);
    this.isMuted = true;
    try {
      return await this.line("");
    } finally {
      this.isMuted = false;
      process.stdout.write("\n");
    }
  }

  /** Asks for one of several choices. @returns its index, or the address that was typed instead */
  async choose(question: string, choices: readonly string[]): Promise<number | string> {
    console.log(`${question}\n${choices.map((choice, at) => `  ${at + 1}  ${choice}`).join("\n")}`);
    for (;;) {
      const typed = await this.ask("Number", "1");
      const answer = Number(typed);
      if (Number.isInteger(answer) && answer >= 1 && answer <= choices.length) return answer - 1;
      if (/[:/]/.test(typed)) return typed;
      console.log(
        `Type a number from 1 to ${choices.length}, or an address such as http://127.0.0.1:8000/v1.`,
      );
    }
  }

  /** @throws AbortedError */
  private async line(prompt: string): Promise<string> {
    const typed = this.lines.question(prompt, { signal: this.ending.signal });
    const text = await typed.catch(() => {
      throw new AbortedError();
    });
    return text.trim();
  }

  close(): void {
    this.lines.close();
  }
}
