import { TOKENS_CHANNEL } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";

/** Text is collected for this long before it is sent. */
const SEND_INTERVAL_MS = 40;
/** In characters: JSON takes up to 6 bytes for one, and PostgreSQL at most 7,999 for a notification. */
const MAX_NOTIFICATION_LENGTH = 1_300;

/** Streams an answer to subscribers of the chat. Nothing is stored here: only the finished message is. */
export class TokenStream {
  private text = "";
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();
  private cancelled = false;
  /** Whether a part of this answer was sent. */
  private sent = false;
  /** The next text starts the answer: readers discard earlier text, e.g. of a server that crashed. */
  private first = true;
  private parts = 0;

  constructor(
    private readonly scope: Scope,
    private readonly chatId: string,
  ) {}

  add(text: string): void {
    this.text += text;
    this.timer ??= setTimeout(() => this.send(), SEND_INTERVAL_MS);
  }

  /** Sends nothing until `check` resolves, and nothing at all if it rejects. */
  waitFor(check: Promise<unknown>): void {
    const checked = check.then(
      () => undefined,
      () => void (this.cancelled = true),
    ); // attached at once, or the rejection would be unhandled
    this.sending = this.sending.then(() => checked);
  }

  /** Restarts the answer: drops unsent text, and tells readers to discard sent text. */
  discard(): void {
    this.text = "";
    if (this.sent) this.enqueue("");
    this.sent = false;
    this.first = true;
  }

  async flush(): Promise<void> {
    this.send();
    await this.sending;
  }

  /** Waits for earlier text, then returns the unsent rest, which the statement that stores the message sends. */
  async rest(): Promise<string> {
    if (this.text.length > MAX_NOTIFICATION_LENGTH) this.send();
    await this.sending;
    clearTimeout(this.timer);
    this.timer = undefined;
    const { text } = this;
    this.text = "";
    return text;
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { text } = this;
    this.text = "";
    for (let at = 0; at < text.length; at += MAX_NOTIFICATION_LENGTH)
      this.enqueue(text.slice(at, at + MAX_NOTIFICATION_LENGTH));
  }

  private enqueue(text: string): void {
    const startsAnswer = this.first || text === "";
    this.first = false;
    this.sent = true;
    // Numbered, because PostgreSQL delivers equal notifications of a transaction once, and an answer may repeat itself.
    const part = String(this.parts++);
    const notification = { chatId: this.chatId, text, part, ...(startsAnswer && { begins: "true" }) };
    this.sending = this.sending.then(() => {
      if (!this.cancelled) this.scope.announce(TOKENS_CHANNEL, notification);
    });
  }
}
