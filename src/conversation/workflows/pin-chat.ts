import { ChatDrafts } from "../../assistants/versions/chat-drafts";
import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import type { ChatRow } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { startOf } from "./flow";
import type { ResolvedTarget } from "./target";

/** Columns of a new chat that say what it runs, and in which versions. */
export function targetColumns({
  assistant,
  speakerVersions,
  workflowId,
  flow,
  deploymentId,
}: ResolvedTarget) {
  const { id: assistantId, pin } = assistant;
  return {
    ...{ assistantId, workflowId, deploymentId, workflowNodeId: flow && startOf(flow) },
    ...{ assistantVersion: pin?.number, runsDraft: pin?.draft !== undefined, speakerVersions },
  };
}

/** Stores the draft that a new chat runs, in the transaction that stores the chat. */
export async function storeDraft(
  scope: Scope,
  chatId: string,
  { assistant: { pin } }: ResolvedTarget,
): Promise<void> {
  if (pin?.draft) await scope.of(ChatDrafts).store(chatId, pin.draft);
}

/**
 * Pins an assistant that the workflow got after the chat began.
 * @returns the chat with the version that is stored: another server may have pinned it first
 */
export async function pinSpeaker(scope: Scope, chat: ChatRow, assistantId: string): Promise<ChatRow> {
  const { id, speakerVersions: known } = chat;
  if (!known || Object.hasOwn(known, assistantId)) return chat;
  const added = await scope.of(PinnedAssistants).currentVersions([assistantId]);
  if (!Object.hasOwn(added, assistantId)) return chat;
  const [row] = await scope.write(PIN_SPEAKER, [id, JSON.stringify(added)]);
  return row ? { ...chat, speakerVersions: row.speakerVersions } : chat;
}

const PIN_SPEAKER = statement<{ speakerVersions: Readonly<Record<string, number>> }>(({ db }) =>
  db.raw(`
  update chats set speaker_versions = $3::jsonb || chats.speaker_versions
  where chats.organization_id = $1 and chats.id = $2 returning chats.speaker_versions`),
);
