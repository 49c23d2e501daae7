import { counted } from "../../platform/errors";
import { equalFiles, type Change } from "./changes";
import type { KnowledgeFile } from "./kinds";

/** Contents that are shown as texts, in bytes. */
const MAX_TEXT_BYTES = 100_000;

/** A change for each attached file that is new, gone or has another content. */
export async function changesOfFiles({ before, after }: Change): Promise<Change[]> {
  const [old, now] = [before ?? [], after] as [KnowledgeFile[], KnowledgeFile[]];
  const names = [...new Set([...old, ...now].map(({ name }) => name))];
  const changed = names
    .map((name) => ({ name, stored: named(old, name), wanted: named(now, name) }))
    .filter(({ stored, wanted }) => !equalFiles(stored, wanted));
  return Promise.all(
    changed.map(async ({ name, stored, wanted }) => {
      const [before, after] = await Promise.all([contentsOf(stored), contentsOf(wanted)]);
      const isReplaced = before.length > 0 && after.length > 0;
      const shown = isReplaced && [...before, ...after].every(isText) ? textsOf : sizesOf;
      return { path: ["files", name], before: shown(before), after: shown(after) };
    }),
  );
}

const named = (files: readonly KnowledgeFile[], name: string) => files.filter((file) => file.name === name);

const contentsOf = (files: readonly KnowledgeFile[]): Promise<Uint8Array[]> =>
  Promise.all(files.map(({ content }) => content()));

const textsOf = (contents: readonly Uint8Array[]): string =>
  contents.map((content) => new TextDecoder().decode(content)).join("\n");

const sizesOf = (contents: readonly Uint8Array[]): string | undefined =>
  contents.length === 0 ? undefined : contents.map(({ length }) => counted(length, "byte")).join(", ");

function isText(content: Uint8Array): boolean {
  if (content.length > MAX_TEXT_BYTES || content.includes(0)) return false;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content) !== undefined;
  } catch {
    return false;
  }
}
