import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { DocumentValues } from "./document";

/** Versions that must stay: of live conversations, of deployments, of the draft, and the current one. */
const IN_USE = statement<{ number: number }>(({ db }) =>
  db.raw(`
  select chats.assistant_version as number from chats
  where chats.organization_id = $1 and status <> 'ended' and chats.assistant_id = $2
    and chats.assistant_version is not null
  union select (chats.speaker_versions ->> $2)::integer from chats
  where chats.organization_id = $1 and status <> 'ended' and jsonb_exists(chats.speaker_versions, $2)
  union select deployments.assistant_version from deployments
  where deployments.organization_id = $1 and deployments.assistant_id = $2
    and deployments.assistant_version is not null
  union select assistant_drafts.based_on from assistant_drafts
  where assistant_drafts.organization_id = $1 and assistant_drafts.assistant_id = $2
  union select version_heads.number from version_heads
  where version_heads.organization_id = $1 and version_heads.assistant_id = $2`),
);

const DRAFTS_IN_USE = statement<{ content: DocumentValues }>(({ db }) =>
  db.raw(`
  select assistant_drafts.content from assistant_drafts
  where assistant_drafts.organization_id = $1 and assistant_drafts.assistant_id = $2
  union all select chat_drafts.content from chats
  join chat_drafts on chat_drafts.organization_id = $1 and chat_drafts.chat_id = chats.id
  where chats.organization_id = $1 and status <> 'ended' and chats.assistant_id = $2 and chats.runs_draft`),
);

/** Numbers of the versions of an assistant that something needs. */
export const versionsInUse = async (scope: Scope, assistantId: string): Promise<number[]> =>
  (await scope.read(IN_USE, [assistantId])).map(({ number }) => number);

/** The values of the draft of an assistant, and of the drafts that conversations run. */
export const draftsInUse = async (scope: Scope, assistantId: string): Promise<DocumentValues[]> =>
  (await scope.read(DRAFTS_IN_USE, [assistantId])).map(({ content }) => content);
