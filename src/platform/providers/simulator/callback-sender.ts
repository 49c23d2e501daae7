import type { Delivery } from "./behavior";

type Json = Readonly<Record<string, unknown>>;

/** Number of messages that overtake a late one. */
const LATE_MESSAGES = 3;

/** Sends callbacks in the order of a Delivery. */
export class CallbackSender {
  private readonly held: { message: Json; left: number }[] = [];

  constructor(
    private readonly delivery: Delivery,
    private readonly post: (message: Json) => Promise<unknown>,
  ) {}

  async send(message: Json): Promise<void> {
    if (this.delivery === "twice") return void (await Promise.all([this.post(message), this.post(message)]));
    if (this.delivery === "late" && message.type === "status-update")
      return void this.held.push({ message, left: LATE_MESSAGES });
    if (this.delivery === "swapped" && this.held.length === 0)
      return void this.held.push({ message, left: 1 });
    await this.post(message);
    await this.release();
  }

  /** Sends all messages that were held back. */
  async empty(): Promise<void> {
    for (const { message } of this.held.splice(0)) await this.post(message);
  }

  private async release(): Promise<void> {
    for (const one of this.held) one.left--;
    const due = this.held.filter(({ left }) => left <= 0);
    this.held.splice(0, this.held.length, ...this.held.filter(({ left }) => left > 0));
    for (const { message } of due) await this.post(message);
  }
}
