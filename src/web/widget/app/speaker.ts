import { spoken } from "./markdown";

/** A sentence and the space behind it; without the space more of it may come. */
const SENTENCE = /[^.!?。！？\n]*(?:[.!?]+\s+|[。！？]+|\n+)/y;
/** For text whose voice never says that it has ended, in milliseconds for each character, and at least. */
const SLOWEST = 180;
const LEAST = 4_000;

/** Says an answer aloud, sentence by sentence, while it is still being written. */
export class Speaker {
  private said = 0;
  private queue: string[] = [];
  private speaking = false;
  private complete = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Of which utterance an end counts: one that was cancelled ends late. */
  private turn = 0;

  constructor(
    private readonly locale: string,
    private readonly over: () => void,
  ) {}

  static get there(): boolean {
    return typeof speechSynthesis !== "undefined" && typeof SpeechSynthesisUtterance !== "undefined";
  }

  get busy(): boolean {
    return this.speaking || !this.complete;
  }

  /** More of the answer: the whole of it so far. */
  feed(text: string): void {
    this.complete = false;
    this.take(text);
    this.next();
  }

  private take(text: string): void {
    SENTENCE.lastIndex = this.said;
    for (let match = SENTENCE.exec(text); match?.[0]; match = SENTENCE.exec(text)) {
      this.said = SENTENCE.lastIndex;
      this.queue.push(match[0]);
    }
  }

  finish(text: string): void {
    this.take(text);
    const rest = text.slice(this.said);
    if (rest.trim() !== "") this.queue.push(rest);
    this.said = 0;
    this.complete = true;
    this.next();
  }

  stop(): void {
    this.turn++;
    clearTimeout(this.timer);
    this.queue = [];
    this.said = 0;
    this.complete = true;
    this.speaking = false;
    if (Speaker.there) speechSynthesis.cancel();
  }

  private next(): void {
    if (this.speaking) return;
    const words = this.queue.shift();
    if (words === undefined) return void (this.complete && this.over());
    const text = spoken(words);
    if (!Speaker.there || text === "") return this.next();
    this.utter(text);
  }

  private utter(text: string): void {
    this.speaking = true;
    const turn = ++this.turn;
    const utterance = new SpeechSynthesisUtterance(text);
    utterance.lang = this.locale;
    const ended = () => {
      if (turn !== this.turn) return;
      clearTimeout(this.timer);
      this.speaking = false;
      this.next();
    };
    utterance.onend = ended;
    utterance.onerror = ended;
    this.timer = setTimeout(ended, LEAST + text.length * SLOWEST);
    speechSynthesis.speak(utterance);
  }
}
