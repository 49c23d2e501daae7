import { effect, signal } from "@preact/signals";
import type { Conversation } from "./conversation";
import type { Message } from "./operations.generated";
import { canListen, Recognition } from "./recognition";
import { Speaker } from "./speaker";

export type TalkState = "idle" | "connecting" | "listening" | "thinking" | "speaking" | "over";
export type TalkTrouble = "deaf" | "denied" | "failed";

/** A spoken conversation with the browser's speech recognition and synthesis. */
export class Talk {
  readonly state = signal<TalkState>("idle");
  readonly trouble = signal<TalkTrouble | undefined>(canListen() ? undefined : "deaf");
  readonly heard = signal("");
  readonly answer = signal("");
  readonly muted = signal(false);
  private readonly recognition: Recognition;
  private readonly speaker: Speaker;
  private stopWatching: (() => void) | undefined;

  constructor(
    readonly conversation: Conversation,
    locale: string,
    private readonly onError: (error: unknown) => void,
  ) {
    this.speaker = new Speaker(locale, () => this.listen());
    this.recognition = new Recognition(locale, {
      interim: (words) => (this.heard.value = words),
      sentence: (words) => this.ask(words),
      denied: () => this.stop("denied"),
    });
  }

  get active(): boolean {
    return !["idle", "over"].includes(this.state.value);
  }

  /**
   * Starts the conversation. Must be called from a click, before which browsers allow neither speech output nor
   * input.
   */
  async start(): Promise<void> {
    this.trouble.value = undefined;
    this.heard.value = this.answer.value = "";
    this.muted.value = false;
    this.state.value = "connecting";
    try {
      if (!this.conversation.chat.value) await this.conversation.begin();
    } catch (error) {
      this.onError(error);
      return this.stop("failed");
    }
    if (!this.active) return;
    this.watch();
    const greeting = this.conversation.messages.value.at(-1);
    if (greeting?.role === "ASSISTANT") this.say(greeting.content);
    else this.listen();
  }

  /** Handles a new message of the conversation. */
  stored({ role, content }: Message): void {
    if (role === "ASSISTANT" && this.active) this.say(content);
  }

  interrupt(): void {
    this.speaker.stop();
    this.listen();
  }

  toggleMute(): void {
    this.muted.value = !this.muted.value;
    if (this.muted.value) this.recognition.stop();
    else if (this.state.value === "listening") this.recognition.start();
  }

  hangUp(): void {
    this.stop();
    void this.conversation.end();
  }

  private stop(trouble?: TalkTrouble): void {
    const wasActive = this.active;
    this.stopWatching?.();
    this.recognition.stop();
    this.speaker.stop();
    this.trouble.value = trouble;
    this.state.value = wasActive && !trouble ? "over" : "idle";
  }

  private watch(): void {
    const { chat, draft } = this.conversation;
    this.stopWatching = effect(() => {
      if (chat.value?.status === "ended") queueMicrotask(() => this.ended());
      if (draft.value !== "" && this.state.peek() !== "listening") {
        this.recognition.stop();
        this.state.value = "speaking";
        this.answer.value = draft.value;
        this.speaker.feed(draft.value);
      }
    });
  }

  /** Stops after the current answer has been spoken. */
  private ended(): void {
    if (this.active && !this.speaker.busy) this.stop();
  }

  private ask(words: string): void {
    this.heard.value = words;
    this.answer.value = "";
    this.state.value = "thinking";
    this.conversation.send(words);
  }

  private say(content: string): void {
    this.recognition.stop();
    this.answer.value = content;
    this.state.value = "speaking";
    this.speaker.finish(content);
  }

  private listen(): void {
    if (!this.active) return;
    if (this.conversation.ended) return this.stop();
    if (this.conversation.awaiting.value) return void (this.state.value = "thinking");
    this.state.value = "listening";
    this.heard.value = "";
    if (!this.muted.value) this.recognition.start();
  }
}
