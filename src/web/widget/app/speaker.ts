import { spoken } from "./markdown";

/** A sentence with the space after it; without the space the sentence may continue. */
const SENTENCE = /[^.!?。！？\n]*(?:[.!?]+\s+|[。！？]+|\n+)/y;
/** Timeout for voices that never report their end, in ms: per character, and at least. */
const MS_PER_CHARACTER = 180;
const MIN_TIMEOUT_MS = 4_000;

/** Speaks an answer sentence by sentence while it is being written. */
export class Speaker {
  private spokenLength = 0;
  private queue: string[] = [];
  private speaking = false;
  private complete = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the current utterance: events of cancelled ones are ignored. */
  private turn = 0;

  constructor(
    private readonly locale: string,
    private readonly onEnd: () => void,
  ) {}

  static get isSupported(): boolean {
    return typeof speechSynthesis !== "undefined" && typeof SpeechSynthesisUtterance !== "undefined";
  }

  get busy(): boolean {
    return this.speaking || !this.complete;
  }

  /** Adds to the answer. @param text the whole answer so far */
  feed(text: string): void {
    this.complete = false;
    this.take(text);
    this.next();
  }

  private take(text: string): void {
    SENTENCE.lastIndex = this.spokenLength;
    for (let match = SENTENCE.exec(text); match?.[0]; match = SENTENCE.exec(text)) {
      this.spokenLength = SENTENCE.lastIndex;
      this.queue.push(match[0]);
    }
  }

  finish(text: string): void {
    this.take(text);
    const rest = text.slice(this.spokenLength);
    if (rest.trim() !== "") this.queue.push(rest);
    this.spokenLength = 0;
    this.complete = true;
    this.next();
  }

  stop(): void {
    this.turn++;
    clearTimeout(this.timer);
    this.queue = [];
    this.spokenLength = 0;
    this.complete = true;
    this.speaking = false;
    if (Speaker.isSupported) speechSynthesis.cancel();
  }

  private next(): void {
    if (this.speaking) return;
    const words = this.queue.shift();
    if (words === undefined) return void (this.complete && this.onEnd());
    const text = spoken(words);
    if (!Speaker.isSupported || text === "") return this.next();
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
    this.timer = setTimeout(ended, MIN_TIMEOUT_MS + text.length * MS_PER_CHARACTER);
    speechSynthesis.speak(utterance);
  }
}
