import type { LocalRecord } from "./folder";
import type { Fields, KnowledgeFile } from "./kinds";
import { LEFT_CONFLICT } from "./merge-conflict";
import type { RemoteRecord } from "./remote";
import type { LocalFile } from "./resolve";

const filesIn = <F extends KnowledgeFile>({ fields }: { readonly fields: Fields }) =>
  (fields.files ?? []) as readonly F[];

/**
 * Lines about merge conflicts in attached files. Not about files that the server has: somebody has uploaded them like that,
 * and `pull` writes them.
 * @param stored what the server has
 */
export function conflictsInFiles(
  local: readonly LocalRecord[],
  stored: readonly RemoteRecord[],
): readonly string[] {
  const known = new Set(stored.flatMap(filesIn).map(({ digest }) => digest));
  const places = local.flatMap((record) =>
    filesIn<LocalFile>(record).flatMap(({ conflict, digest }) => (known.has(digest) ? [] : (conflict ?? []))),
  );
  return [...new Set(places)].map(
    (place) =>
      `${place}: ${LEFT_CONFLICT} If the file is meant to have them, attach it to an assistant on the server first.`,
  );
}

/** The same without a server, which may have the files. */
export const possibleConflictsInFiles = (local: readonly LocalRecord[]): readonly string[] =>
  [
    ...new Set(
      local.flatMap((record) => filesIn<LocalFile>(record).flatMap(({ conflict }) => conflict ?? [])),
    ),
  ].map(
    (place) =>
      `${place}: Warning: The text contains a merge conflict. diff and apply refuse it unless an assistant on the server has this file.`,
  );
