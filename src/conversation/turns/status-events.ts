import type { ChatRow } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";

/** Records what the assistant does during a turn: in order, and without delaying its answer. */
export class StatusEvents {
  private last: Promise<void> = Promise.resolve();
  private isSpeaking = false;

  constructor(
    private readonly scope: Scope,
    private readonly chat: ChatRow,
  ) {}

  add(status: "thinking" | "speaking" | "listening"): void {
    this.enqueue(() => this.scope.of(Events).interaction(this.chat, status));
  }

  /** Records that the assistant speaks, once per turn. @param first work to run before */
  speaking(first?: () => Promise<void>): void {
    if (this.isSpeaking) return;
    this.isSpeaking = true;
    if (first) this.enqueue(first);
    this.add("speaking");
  }

  /** Resolves when all events so far are stored. */
  flush(): Promise<void> {
    return this.last;
  }

  /** Runs work after the events so far. */
  enqueue(work: () => Promise<void>): this {
    this.last = this.last.then(work).catch(() => undefined); // an error here must not fail the answer
    return this;
  }
}
