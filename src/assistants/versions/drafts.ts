import { currentDate } from "../../platform/clock";
import { rowById } from "../../platform/database/lists/row-by-id";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { Assistants, type Assistant, type AssistantInput } from "../assistants/assistants";
import type { ConfigurationWarning } from "../assistants/warnings";
import { SecretSlots } from "../history/secret-slots";
import { AttachedFiles } from "../knowledge/attached-files";
import { checkVersion } from "./check-version";
import { checkedDocument } from "./checked-document";
import { copiedSecrets } from "./copied-secrets";
import { differences, type DocumentChange } from "./differences";
import {
  documentOf,
  fileIdsIn,
  withKnownSecrets,
  type Document,
  type DocumentValues,
  type PartialDocument,
} from "./document";
import { documentWarnings, warnOfChanges } from "./document-warnings";
import { columnsWith, secretsOfDraft } from "./draft-secrets";
import { liveValues } from "./live-values";
import type { DraftCopy } from "./pins";
import { Versions, type ChangedAssistant } from "./versions";
import { lockDocument, warnOfNoChange, writeDocument } from "./write-document";

export interface AssistantDraft {
  readonly assistantId: string;
  /** Number of the version that was current when the draft was begun. */
  readonly basedOn: number;
  readonly updatedAt: Date;
  /** The changes. */
  readonly content: DocumentValues;
}

/** What an imported draft keeps. */
export type KeptDraft = Pick<AssistantDraft, "basedOn" | "updatedAt">;

interface DraftRow extends AssistantDraft {
  readonly sealedSecrets: string | null;
}

/** How a change is published. */
interface Publication {
  readonly note?: string | null | undefined;
  /** The change is refused unless this is the current version. */
  readonly ifVersion?: number | null | undefined;
}

interface Change extends Publication {
  /** Settings beside the document, which change in the same step. */
  readonly settings?: Partial<Pick<AssistantInput, "projectId" | "missingVariables">> | null | undefined;
}

/** Changes of assistants that are not published yet: at most one draft of each assistant, for the whole organization. */
export class Drafts {
  constructor(private readonly scope: Scope) {}

  /** The draft of an assistant. Calls in the same tick share one statement. */
  of(assistantId: string): Promise<AssistantDraft | undefined> {
    return this.row(assistantId);
  }

  /** The draft for a conversation. @throws DRAFT_NOT_FOUND */
  async copy(assistantId: string): Promise<DraftCopy> {
    const draft = await this.found(assistantId);
    const stored = await this.scope.of(SecretSlots).current(assistantId);
    return { content: draft.content, secrets: copiedSecrets(secretsOfDraft(this.scope, draft), stored) };
  }

  /** The current document of the assistant with the changes of a draft, as publishing it would make it. */
  async document({ assistantId, content }: AssistantDraft): Promise<Document> {
    const versions = this.scope.of(Versions);
    const assistant = await this.scope.of(Assistants).byIdIncludingDeleted(assistantId);
    const current = await versions.values(await versions.current(assistant));
    const secrets = secretsOfDraft(this.scope, await this.row(assistantId));
    const stored = await this.scope.of(SecretSlots).loaded(assistantId);
    const document = documentOf({ ...current, ...withKnownSecrets(content, { ...stored, ...secrets }) });
    return { ...document, fileIds: await this.existing(document.fileIds) };
  }

  /** Problems in the configurations that publishing a draft would make. */
  async warnings(draft: AssistantDraft): Promise<ConfigurationWarning[]> {
    return documentWarnings(this.scope, await this.document(draft));
  }

  /** The changes from a version to the draft. @throws ASSISTANT_NOT_FOUND, VERSION_NOT_FOUND, DRAFT_NOT_FOUND */
  async difference(assistantId: string, from: number): Promise<DocumentChange[]> {
    const versions = this.scope.of(Versions);
    const before = await versions.document(await versions.byNumber(assistantId, from));
    const draft = await this.found(assistantId);
    return differences(before, await this.document(draft));
  }

  /**
   * Adds changes to the draft of an assistant, or begins one.
   * @param kept facts of a draft of another service, which takes the place of the one here
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND, BAD_USER_INPUT
   */
  async save(assistantId: string, input: PartialDocument, kept?: KeptDraft): Promise<AssistantDraft> {
    return this.scope.transaction(async (scope) => {
      const number = await lockedVersion(scope, assistantId);
      const drafts = scope.of(Drafts);
      const checked = await checkedDocument(scope, input);
      const draft = kept ? undefined : await drafts.row(assistantId);
      const columns = await columnsWith(scope, assistantId, draft, checked);
      await scope.of(AttachedFiles).addUnattached(assistantId, fileIdsIn(checked.values) ?? []);
      const [stored] = await scope
        .insert("assistant_drafts", {
          assistantId,
          basedOn: draft?.basedOn ?? number,
          ...columns,
          updatedAt: currentDate(),
          ...kept,
        })
        .onConflict(["organizationId", "assistantId"])
        .merge();
      scope.forget();
      await warnOfChanges(scope, input, await drafts.document(stored as AssistantDraft));
      return stored as AssistantDraft;
    });
  }

  /**
   * Makes a new version of the changes in the draft, and removes the draft. Changes that were published meanwhile stay, unless
   * the draft changes the same values.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DRAFT_NOT_FOUND, VERSION_CONFLICT
   */
  async publish(assistantId: string, { note, ifVersion }: Publication = {}): Promise<ChangedAssistant> {
    return this.scope.transaction(async (scope) => {
      const number = await lockedVersion(scope, assistantId);
      const draft = await scope.of(Drafts).found(assistantId);
      checkVersion(number, ifVersion);
      const secrets = secretsOfDraft(scope, draft);
      const isChanged = await writeDocument(scope, assistantId, { values: draft.content, secrets, note });
      if (!isChanged && note) warnOfNoChange(scope);
      await warnOfChanges(scope, documentOf(draft.content), documentOf(await liveValues(scope, assistantId)));
      await scope.table("assistant_drafts").where({ assistantId }).delete();
      return scope.of(Versions).changed(assistantId);
    });
  }

  /**
   * Changes several parts of an assistant at once, as one version. Its draft stays as it is.
   * @param publication see `publish`
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND, PROJECT_NOT_FOUND, BAD_USER_INPUT, VERSION_CONFLICT
   */
  async change(
    assistantId: string,
    input: PartialDocument,
    { note, ifVersion, settings }: Change = {},
  ): Promise<ChangedAssistant> {
    return this.scope.transaction(async (scope) => {
      checkVersion(await lockedVersion(scope, assistantId), ifVersion);
      if (Object.keys(settings ?? {}).length > 0) await scope.of(Assistants).update(assistantId, settings!);
      return scope.of(Drafts).write(assistantId, input, note);
    });
  }

  /**
   * Creates an assistant with a document as its first version.
   * @throws QUOTA_EXCEEDED, PROJECT_NOT_FOUND, CONFLICT, FILE_NOT_FOUND, BAD_USER_INPUT
   */
  async create(
    input: AssistantInput,
    document: PartialDocument,
    note?: string | null,
  ): Promise<ChangedAssistant> {
    return this.scope.transaction(async (scope) => {
      const { id } = await scope.of(Assistants).create(input);
      return scope.of(Drafts).write(id, document, note, true);
    });
  }

  /** Removes the draft, if there is one. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
  async discard(assistantId: string): Promise<Assistant> {
    await this.scope.of(Assistants).checkOwn(assistantId);
    await this.scope.table("assistant_drafts").where({ assistantId }).delete();
    this.scope.forget();
    return this.scope.of(Assistants).byId(assistantId);
  }

  /** @param isNew whether the assistant gets its first version, which has the note even if the document is empty */
  private async write(
    assistantId: string,
    input: PartialDocument,
    note: string | null | undefined,
    isNew = false,
  ): Promise<ChangedAssistant> {
    const { scope } = this;
    const { values, secrets } = await checkedDocument(scope, input);
    const isChanged = await writeDocument(scope, assistantId, { values, secrets, note });
    if (!isChanged && !isNew && note) warnOfNoChange(scope);
    await warnOfChanges(scope, input, documentOf(await liveValues(scope, assistantId)));
    return scope.of(Versions).changed(assistantId);
  }

  private async found(assistantId: string): Promise<DraftRow> {
    return (await this.row(assistantId)) ?? missing("Draft", assistantId);
  }

  /** None for a deleted assistant: earlier releases kept its draft. */
  private row(assistantId: string): Promise<DraftRow | undefined> {
    const loader = this.scope.loader<DraftRow | undefined>("drafts", async (ids) => {
      const live = this.scope.table("assistants").select("id").whereIn("id", ids).whereNull("deletedAt");
      const rows = (await this.scope.table("assistant_drafts").whereIn("assistantId", live)) as DraftRow[];
      return ids.map((id) => rows.find((row) => row.assistantId === id));
    });
    return loader.load(assistantId);
  }

  /** The files that have not been deleted since the draft was saved: the others will not be published. */
  private async existing(fileIds: readonly string[]): Promise<string[]> {
    const files = await Promise.all(fileIds.map((id) => rowById(this.scope, "files", id)));
    return fileIds.filter((_, index) => files[index]);
  }
}

/** Locks an assistant against changes until the end of the transaction. @returns the number of its current version */
async function lockedVersion(scope: Scope, assistantId: string): Promise<number> {
  await lockDocument(scope, assistantId);
  return (await scope.of(Versions).current(await scope.of(Assistants).byId(assistantId))).number;
}
