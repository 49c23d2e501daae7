import type { ChatEvent } from "./chat-events";
import { endsInAnswer } from "./chat-positions";

/** The unfinished answer of a chat, as far as the reader of a stream has it. */
export class ShownAnswer {
  /** Whether the reader has a part of it. */
  isShown: boolean;
  /** Whether the reader has missed a part, so that later parts would not fit. */
  isBroken: boolean;

  /** @param after the event after which the reader resumes: if it is a part of an answer, the next part was missed */
  constructor(after: string | null | undefined) {
    this.isShown = after != null && endsInAnswer(after);
    this.isBroken = this.isShown;
  }

  /** Takes note of an event that is sent. @returns whether the reader then has a part of an answer */
  note({ name, message }: Partial<Pick<ChatEvent, "name" | "message">>): boolean {
    if (name === "token") this.isShown = true;
    if (name === "token-reset" || message?.role === "ASSISTANT") {
      this.isShown = false;
      this.isBroken = false;
    }
    return this.isShown;
  }

  /** Whether the event ends the chat before the answer, which is then never stored. */
  isCutOffBy({ name, status }: ChatEvent): boolean {
    return this.isShown && status === "ended" && name === "status-changed";
  }
}
