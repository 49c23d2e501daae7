import { Messages, type Message } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";
import type { Utterance } from "../../platform/ports/voice-engine";
import type { CallRow } from "./calls";
import { Calls } from "./calls";
import { blocksOf, wordsOf } from "./whole-transcript";

/** Metadata of messages that come from a report of the whole conversation instead of a single transcript. */
export const FROM_CONVERSATION = { heard: "conversation" } as const;

/**
 * Stores the words of a call as messages. Single transcripts take precedence; reports of the whole conversation are
 * used only until the first transcript arrives.
 */
export class Transcript {
  constructor(
    private readonly scope: Scope,
    private readonly call: CallRow,
  ) {}

  /** Adds a single transcript. */
  async addTranscript(said: Utterance): Promise<void> {
    const { chatId, transcribed } = this.call;
    if (!transcribed) await this.scope.of(Calls).change(chatId, { transcribed: true });
    const early = (await this.spoken()).filter(({ metadata }) => metadata.heard === FROM_CONVERSATION.heard);
    if (!covers(early, said)) await this.add(said);
  }

  /** Adds the part of a report of the whole conversation that is not stored yet. */
  async addConversation(told: readonly Utterance[]): Promise<void> {
    if (this.call.transcribed) return;
    const stored = blocksOf((await this.spoken()).map(toUtterance));
    for (const said of partAfter(stored, blocksOf(told))) await this.add(said, FROM_CONVERSATION);
  }

  private async add({ role, text }: Utterance, metadata: Record<string, unknown> = {}): Promise<void> {
    const own = role === "ASSISTANT" ? this.call.spoken : {};
    await this.scope.of(Messages).postIfLive({
      aiChatId: this.call.chatId,
      role,
      channel: "VOICE",
      content: text,
      metadata: { ...own, ...metadata },
      spoken: true,
    });
  }

  private async spoken(): Promise<Message[]> {
    const all = await this.scope.of(Messages).all(this.call.chatId);
    return all.filter(({ role, content }) => (role === "USER" || role === "ASSISTANT") && content !== null);
  }
}

const toUtterance = ({ role, content }: Message): Utterance => ({
  role: role as Utterance["role"],
  text: content ?? "",
}); // spoken() returns no other roles

/** Whether the speaker's stored messages already contain the text. */
function covers(messages: readonly Message[], { role, text }: Utterance): boolean {
  const stored = messages
    .filter((message) => message.role === role)
    .map(({ content }) => ` ${wordsOf(content ?? "").join(" ")} `);
  const wanted = ` ${wordsOf(text).join(" ")} `;
  return stored.some((one) => one.includes(wanted));
}

/** The part of `told` after `stored`; nothing if the two disagree about the speakers. */
function partAfter(stored: readonly Utterance[], told: readonly Utterance[]): Utterance[] {
  const same = stored.every(({ role }, index) => told[index]?.role === role);
  if (!same) return [];
  const last = stored.at(-1);
  const grown = last ? restAfter(last.text, told[stored.length - 1]!.text) : "";
  return [...(last && grown !== "" ? [{ role: last.role, text: grown }] : []), ...told.slice(stored.length)];
}

/** The rest of `text` after the words of `beginning`; empty if `text` does not begin with them. */
function restAfter(beginning: string, text: string): string {
  const known = wordsOf(beginning);
  const found = [...text.matchAll(/[\p{L}\p{N}']+/gu)];
  const begins = known.every((word, index) => found[index]?.[0].toLowerCase() === word);
  const next = found[known.length];
  return begins && next ? text.slice(next.index).trim() : "";
}
