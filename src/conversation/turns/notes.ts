import type { ChatRow } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";

/** The assistant's part in the turn, told in order without holding up its words. */
export class Notes {
  private last: Promise<void> = Promise.resolve();
  private spoke = false;

  constructor(
    private readonly scope: Scope,
    private readonly chat: ChatRow,
  ) {}

  add(status: "thinking" | "speaking" | "listening"): void {
    this.next(() => this.scope.of(Events).interaction(this.chat, status));
  }

  /** Notes the first word of the turn, and does what goes with it. */
  speaking(first?: () => Promise<void>): void {
    if (this.spoke) return;
    this.spoke = true;
    if (first) this.next(first);
    this.add("speaking");
  }

  /** Resolves when all that was noted so far is stored. */
  written(): Promise<void> {
    return this.last;
  }

  /** Does something in its place among the notes. */
  next(work: () => Promise<void>): this {
    this.last = this.last.then(work).catch(() => undefined); // no note is worth a lost answer
    return this;
  }
}
