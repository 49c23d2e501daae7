import type { LocalRecord } from "./folder";
import type { Fields, KnowledgeFile } from "./kinds";
import { LEFT_CONFLICT } from "./merge-conflict";
import type { RemoteRecord } from "./remote";
import type { LocalFile } from "./resolve";

const filesIn = <F extends KnowledgeFile>({ fields }: { readonly fields: Fields }) =>
  (fields.files ?? []) as readonly F[];

/** The places of the conflicts in some files, each once. */
const placesIn = (local: readonly LocalRecord[], counts: (file: LocalFile) => boolean): string[] => [
  ...new Set(
    local
      .flatMap(filesIn<LocalFile>)
      .filter(counts)
      .flatMap(({ conflict }) => conflict ?? []),
  ),
];

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
  return placesIn(local, ({ digest }) => !known.has(digest)).map(
    (place) =>
      `${place}: ${LEFT_CONFLICT} If the file is meant to have them, attach it to an assistant on the server first.`,
  );
}

/** The same without a server, which may have the files. */
export const possibleConflictsInFiles = (local: readonly LocalRecord[]): readonly string[] =>
  placesIn(local, () => true).map(
    (place) =>
      `${place}: Warning: The text contains a merge conflict. diff and apply refuse it unless an assistant on the server has this file.`,
  );
