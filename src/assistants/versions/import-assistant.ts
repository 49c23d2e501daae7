import { Quotas } from "../../account/organization/quotas";
import { Projects } from "../../account/projects/projects";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { withFreeKey } from "../../platform/database/record-key";
import type { Scope } from "../../platform/database/scope";
import type { Rows } from "../../platform/database/tables/rows";
import type { MissingVariables } from "../../platform/database/tables/value-types";
import { Assistants, type Assistant } from "../assistants/assistants";
import { CONFIGURATIONS, type ConfigurationKind } from "../configurations/configurations";
import { Templates } from "../configurations/templates";
import { warnOfUnusableNames } from "../configurations/variable-names";
import type { KeptVersion } from "../history/version-keeper";
import { valuesLeft } from "../history/remove-versions";
import { AttachedFiles } from "../knowledge/attached-files";
import { checkedDocument } from "./checked-document";
import type { PartialDocument } from "./document";
import { lockDocument, writeDocument } from "./write-document";

/** An assistant of another service. */
export interface ImportedAssistant extends PartialDocument, KeptTimes {
  readonly id: string;
  readonly name: string;
  /** Default: none, or the one that it has here. */
  readonly key?: string | null;
  /** Default: none, or the one that it has here. */
  readonly projectId?: string | null;
  /** Default: KEEP, or the one that it has here. */
  readonly missingVariables?: MissingVariables | null;
  /** The version that it is at the source. Default: the next number, and now. */
  readonly version?: KeptVersion | null;
}

type Kept = Omit<ImportedAssistant, "version">;

const KINDS = Object.keys(CONFIGURATIONS) as ConfigurationKind[];

/**
 * Creates an assistant with this id, or updates the one with this id to match, also if it was deleted: as one version.
 * Runs in a transaction. Configurations and their fields that are omitted keep their values.
 * @throws QUOTA_EXCEEDED, TEMPLATE_READ_ONLY, PROJECT_NOT_FOUND, CONFLICT, FILE_NOT_FOUND, BAD_USER_INPUT
 */
export async function importAssistant(scope: Scope, input: ImportedAssistant): Promise<Assistant> {
  const { version, ...kept } = { description: null, variables: null, ...input };
  const { id, key: _k, missingVariables: _m, projectId, createdAt: _c, updatedAt, ...document } = kept;
  if (await scope.of(Templates).find(id)) await scope.of(Templates).rejectWrite(id);
  if (projectId != null) await scope.of(Projects).byId(projectId);
  warnOfUnusableNames(scope, document.variables);
  const { values, secrets } = await checkedDocument(scope, document);
  const before = await storeRows(scope, kept);
  if (before) await lockDocument(scope, id);
  else scope.forget();
  const at = { ...(version && { version }), ...(updatedAt && { updatedAt }) };
  await writeDocument(scope, id, { values, secrets, note: "Imported", ...at });
  if (before && before.deletedAt !== null) await restoreFiles(scope, id);
  return scope.of(Assistants).byId(id);
}

/** Indexes the files of earlier versions again: their passages went with the assistant. */
async function restoreFiles(scope: Scope, assistantId: string): Promise<void> {
  const lists = await valuesLeft(scope, assistantId, ["fileIds"]);
  const fileIds = lists.flatMap(({ value }) => JSON.parse(value) as string[]); // as a version stored it
  await scope.of(AttachedFiles).addUnattached(assistantId, fileIds);
}

/**
 * Stores what is no part of the document, and default configurations of a new assistant.
 * @returns the assistant before; undefined if it is new
 */
async function storeRows(scope: Scope, kept: Kept): Promise<Rows["assistants"] | undefined> {
  const { id, name, description, variables, key, missingVariables, projectId, updatedAt } = kept;
  const [stored] = await scope.table("assistants").where({ id }).forUpdate();
  const values = {
    ...(key !== undefined && { key }),
    ...(projectId !== undefined && { projectId }),
    ...(missingVariables != null && { missingVariables }),
    ...(updatedAt && { updatedAt }),
  };
  if (stored?.deletedAt !== null) await scope.of(Quotas).checkRoomFor("assistants");
  if (!stored) {
    await withFreeKey(scope, "assistants", { id, key }, () =>
      scope
        .insert("assistants", { id, name, description, variables, ...values, ...timesOfNew(kept) })
        .then(() => undefined),
    );
    for (const kind of KINDS) await scope.insert(CONFIGURATIONS[kind], { assistantId: id });
    return undefined;
  }
  // Earlier releases kept the draft of a deleted assistant.
  if (stored.deletedAt !== null) await scope.table("assistant_drafts").where({ assistantId: id }).delete();
  if (hasValues(stored, values) && stored.deletedAt === null) return stored;
  const changes = { updatedAt: currentDate(), ...encoded(values), deletedAt: null };
  await withFreeKey(scope, "assistants", { id, key }, () =>
    scope
      .table("assistants")
      .where({ id })
      .update(changes)
      .then(() => undefined),
  );
  return stored;
}
