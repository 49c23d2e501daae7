import { Messages, type Message } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";
import type { Said } from "../../platform/ports/voice-engine";
import type { CallRow } from "./calls";
import { Calls } from "./calls";
import { blocksOf, wordsOf } from "./whole-transcript";

/** What stands on messages that came with a report of the whole conversation, and not one by one. */
export const FROM_CONVERSATION = { heard: "conversation" } as const;

/**
 * What was said in a call becomes its messages. Transcripts tell it one by one, as it was heard. Engines also repeat the
 * whole conversation: that is used where no transcripts come, or as long as none has come.
 */
export class Transcript {
  constructor(
    private readonly scope: Scope,
    private readonly call: CallRow,
  ) {}

  /** Adds what was heard just now. */
  async heard(said: Said): Promise<void> {
    const { chatId, transcribed } = this.call;
    if (!transcribed) await this.scope.of(Calls).change(chatId, { transcribed: true });
    const early = (await this.spoken()).filter(({ metadata }) => metadata.heard === FROM_CONVERSATION.heard);
    if (!covers(early, said)) await this.add(said);
  }

  /** Adds what a report of the whole conversation has beyond what is stored. */
  async conversation(told: readonly Said[]): Promise<void> {
    if (this.call.transcribed) return;
    const stored = blocksOf((await this.spoken()).map(toSaid));
    for (const said of beyond(stored, blocksOf(told))) await this.add(said, FROM_CONVERSATION);
  }

  private async add({ role, text }: Said, metadata: Record<string, unknown> = {}): Promise<void> {
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

const toSaid = ({ role, content }: Message): Said => ({ role: role as Said["role"], text: content ?? "" }); // spoken() has no others

/** Whether what somebody said stands among these messages of theirs. */
function covers(messages: readonly Message[], { role, text }: Said): boolean {
  const stored = messages
    .filter((message) => message.role === role)
    .map(({ content }) => ` ${wordsOf(content ?? "").join(" ")} `);
  const wanted = ` ${wordsOf(text).join(" ")} `;
  return stored.some((one) => one.includes(wanted));
}

/** What `told` has behind `stored`; nothing where the two tell different stories. */
function beyond(stored: readonly Said[], told: readonly Said[]): Said[] {
  const same = stored.every(({ role }, index) => told[index]?.role === role);
  if (!same) return [];
  const last = stored.at(-1);
  const grown = last ? rest(last.text, told[stored.length - 1]!.text) : "";
  return [...(last && grown !== "" ? [{ role: last.role, text: grown }] : []), ...told.slice(stored.length)];
}

/** The end of `text` behind the words of `beginning`; empty where it does not begin so. */
function rest(beginning: string, text: string): string {
  const known = wordsOf(beginning);
  const found = [...text.matchAll(/[\p{L}\p{N}']+/gu)];
  const begins = known.every((word, index) => found[index]?.[0].toLowerCase() === word);
  const next = found[known.length];
  return begins && next ? text.slice(next.index).trim() : "";
}
