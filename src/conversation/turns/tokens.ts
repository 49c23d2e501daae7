import { TOKENS_CHANNEL } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";

/** Pieces are gathered this long, in milliseconds, and sent in notifications of at most this many characters. */
const GATHER = 40;
const LONGEST = 1_500;

/** Streams an answer to whoever watches the chat. Nothing of it is stored: the message is, when it is whole. */
export class Tokens {
  private text = "";
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();
  private refused = false;
  /** Whether something of this answer was sent. */
  private sent = false;
  /** The next piece is the first: what was shown before, also by a server that died, is no part of the answer. */
  private first = true;

  constructor(
    private readonly scope: Scope,
    private readonly chatId: string,
  ) {}

  add(text: string): void {
    this.text += text;
    this.timer ??= setTimeout(() => this.send(), GATHER);
  }

  /** Sends nothing before this resolves, and nothing at all when it throws. */
  await(permission: Promise<unknown>): void {
    const permitted = permission.then(
      () => undefined,
      () => void (this.refused = true),
    ); // now: nobody else may be there to hear it
    this.sending = this.sending.then(() => permitted);
  }

  /** Forgets what was not sent yet, and withdraws what was, of an answer that begins anew. */
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

  /** Takes what was not sent yet, once all before it was: for a message that shows its own end as it is stored. */
  async rest(): Promise<string> {
    if (this.text.length > LONGEST) this.send();
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
    for (let at = 0; at < text.length; at += LONGEST) this.enqueue(text.slice(at, at + LONGEST));
  }

  private enqueue(text: string): void {
    const begins = this.first || text === "";
    this.first = false;
    this.sent = true;
    const told = { chatId: this.chatId, text, ...(begins && { begins: "true" }) };
    this.sending = this.sending
      .then(() => (this.refused ? undefined : this.scope.notify(TOKENS_CHANNEL, told)))
      .catch(() => undefined);
  }
}
