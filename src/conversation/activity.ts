import type { ChatRow } from "../chats/chats";
import type { Scope } from "../database/scope";
import { Events } from "../events/events";

/** Tells what the assistant does in a turn, one after another, while the turn goes on: a model is never kept waiting for it. */
export class Activity {
  private telling: Promise<void> = Promise.resolve();

  constructor(
    private readonly scope: Scope,
    private readonly chat: ChatRow,
    /** Throws where the turn is not this one's any more: then nothing is told of it. */
    private readonly still: (scope: Scope) => Promise<void>,
  ) {}

  is(status: "thinking" | "speaking" | "listening"): void {
    const { scope, chat, still } = this;
    this.telling = this.telling.then(() =>
      scope.transaction(async (scope) => {
        if (status !== "listening") await still(scope);
        await scope.of(Events).interaction(chat, status);
      }),
    );
    this.telling.catch(() => undefined); // thrown where it is waited for
  }

  /** Resolves when all that was said so far is stored. */
  async told(): Promise<void> {
    await this.telling;
  }
}
