import { TOKENS_CHANNEL } from "../chats/chats";
import type { Scope } from "../database/scope";

/** Pieces are gathered this long, in milliseconds, and sent in notifications of at most this many characters. */
const GATHER = 40;
const LONGEST = 1_500;

/** Streams an answer to whoever watches the chat. Nothing of it is stored: the message is, when it is whole. */
export class Tokens {
  private text = "";
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();
  private refused = false;

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

  /** Forgets what was not sent yet, of an answer that is begun anew. */
  discard(): void {
    this.text = "";
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
    for (let at = 0; at < text.length; at += LONGEST) {
      const piece = text.slice(at, at + LONGEST);
      this.sending = this.sending
        .then(() => (this.refused ? undefined : this.tell(piece)))
        .catch(() => undefined);
    }
  }

  private tell(text: string): Promise<void> {
    return this.scope.notify(TOKENS_CHANNEL, { chatId: this.chatId, text });
  }
}
