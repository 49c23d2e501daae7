import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Asks a person at a terminal. */
export class Questions {
  private isMuted = false;
  private readonly lines: Interface;

  constructor() {
    // The terminal echoes through this stream, so that a key can be typed unseen.
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.isMuted) process.stdout.write(chunk);
        done();
      },
    });
    this.lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY });
  }

  /** @param initial the answer to an empty line */
  async ask(question: string, initial = ""): Promise<string> {
    const hint = initial === "" ? "" : ` [${initial}]`;
    const answer = (await this.lines.question(`${question}${hint}: `)).trim();
    return answer === "" ? initial : answer;
  }

  /** Asks without showing what is typed. */
  async askSecret(question: string): Promise<string> {
    process.stdout.write(`${question}: `);
    this.isMuted = true;
    try {
      return (await this.lines.question("")).trim();
    } finally {
      this.isMuted = false;
      process.stdout.write("\n");
    }
  }

  /** Asks for one of several choices. @returns its index */
  async choose(question: string, choices: readonly string[]): Promise<number> {
    console.log(`${question}\n${choices.map((choice, at) => `  ${at + 1}  ${choice}`).join("\n")}`);
    for (;;) {
      const answer = Number(await this.ask("Number", "1"));
      if (Number.isInteger(answer) && answer >= 1 && answer <= choices.length) return answer - 1;
      console.log(`Type a number from 1 to ${choices.length}.`);
    }
  }

  close(): void {
    this.lines.close();
  }
}
