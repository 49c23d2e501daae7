import { noteImport } from "../../account/organization/importing";
import type { Scope } from "../../platform/database/scope";
import { sqlOf, Statement } from "../../platform/database/statement";
import { invalid, type Problem } from "../../platform/errors";
import { formerVersionParts } from "../history/kept-content";
import { authorOf, type KeptVersion } from "../history/version-keeper";
import { AttachedFiles } from "../knowledge/attached-files";
import { valuesOf, withoutSecretsIn, type PartialDocument } from "./document";
import { lockDocument } from "./write-document";
import { Versions } from "./versions";
import { Assistants } from "../assistants/assistants";

/** An earlier version of an assistant of another service. */
export interface ImportedVersion extends KeptVersion {
  readonly document: PartialDocument;
}

export interface VersionImport {
  /** Number of versions that were stored. */
  readonly imported: number;
  /** Numbers of versions that existed and were left as they are. */
  readonly existing: readonly number[];
}

/**
 * Stores earlier versions of an assistant with their numbers. Those that exist stay as they are. Secrets in their
 * functions are not stored. Runs in a transaction.
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY; BAD_USER_INPUT for a number after that of the current version
 */
export async function importVersions(
  scope: Scope,
  assistantId: string,
  versions: readonly ImportedVersion[],
): Promise<VersionImport> {
  await lockDocument(scope, assistantId);
  const assistant = await scope.of(Assistants).byId(assistantId);
  const { number: current } = await scope.of(Versions).current(assistant);
  const problems = versions.flatMap((version, index) => problemsOf(version, `versions.${index}`, current));
  if (problems.length > 0) throw invalid(problems);
  const numbers = versions.map(({ number }) => number);
  const rows = scope.table("assistant_versions").where({ assistantId }).whereIn("number", numbers);
  const existing = new Set((await rows.select("number")).map(({ number }) => number));
  // An assistant without stored versions is its own version 1.
  const fresh = versions.filter(({ number }) => number !== current && !existing.has(number));
  const unique = new Map(fresh.map((version) => [version.number, version]));
  for (const version of unique.values()) {
    const values = JSON.stringify(withoutSecretsIn(valuesOf(version.document)));
    await scope.write(STORE, [assistantId, authorOf(version), values, version.number]);
  }
  const fileIds = [...unique.values()].flatMap(({ document }) => document.fileIds ?? []);
  await scope.of(AttachedFiles).addUnattached(assistantId, fileIds);
  await noteImport(scope);
  scope.forget();
  return { imported: unique.size, existing: numbers.filter((number) => !unique.has(number)) };
}

const ACTOR = /^(user:.+|key:.+|[a-z]+)$/s;

function problemsOf({ number, actor }: ImportedVersion, path: string, current: number): Problem[] {
  return [
    ...(number > current
      ? [{ path: `${path}.number`, message: `must be at most that of the current version, ${current}` }]
      : []),
    ...(ACTOR.test(actor)
      ? []
      : [{ path: `${path}.actor`, message: "must be user:ID, key:ID or a word in lowercase letters" }]),
  ];
}

/** Parameters: id, author, the values of the document by their column, the number. */
const STORE = new Statement<{ number: number }>((pieces) => {
  const { db, $ } = pieces;
  const values = `select key, value from jsonb_each(${$(3).toQuery()}::jsonb)`;
  const made = formerVersionParts(pieces, { id: $(1), values, author: $(2), number: $(4) });
  return db.raw(`with digested as (${sqlOf(made.digested)}), head as (${sqlOf(made.head)}), version as (${sqlOf(made.version)}),
    texts as (${sqlOf(made.texts)}) select number from head`);
});
