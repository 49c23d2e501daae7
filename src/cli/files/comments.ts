import {
  isCollection,
  isNode,
  isPair,
  visit,
  type Document,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

type Collection = YAMLMap | YAMLSeq;

/** Keeps a comment at the end of a collection in its place. @param added the first entry to be added after it */
export function leaveComment(node: Collection, added: Node | undefined): void {
  if (!added || node.comment == null) return;
  added.commentBefore = node.comment;
  node.comment = null;
}

/**
 * Keeps the comment above the first entry of a list with this entry, if others now come before it. The library has that
 * comment above the list; one with an empty line after it is about the list.
 */
export function keepFirstComment(list: YAMLSeq, first: unknown, entries: readonly Node[]): void {
  const { commentBefore } = list;
  if (commentBefore == null || commentBefore.endsWith("\n")) return;
  if (!isNode(first) || entries.indexOf(first) < 1) return;
  const [own = "", ...above] = commentBefore.split("\n\n").reverse();
  list.commentBefore = above.length > 0 ? `${above.reverse().join("\n\n")}\n` : null;
  first.commentBefore = joined(own, first.commentBefore);
}

/**
 * Gives comments after a collection that are less indented than its entries to what comes next: the library takes all
 * comments after an indented one for the end of the collection, and would indent them, too.
 */
export function placeComments(document: Document, source: string): void {
  visit(document, {
    Collection: (_, node, path) => {
      if (node.flow || node.comment == null || !node.range) return;
      const around = [...path.filter((one) => isCollection(one)), node];
      const [, end, after] = node.range;
      const lines = source.slice(end, after).split("\n").slice(0, -1);
      const nextAfter = (line: string) => {
        const owner = /^ *#/.test(line) ? ownerOf(line, around, source) : undefined;
        return owner && owner !== node ? entryAfter(owner, [...path, node]) : undefined;
      };
      const first = lines.findIndex((line) => nextAfter(line) !== undefined);
      const next = nextAfter(lines[first] ?? "");
      if (!next) return;
      const [own, given] = [lines.slice(0, first), lines.slice(first)].map(commentIn);
      node.comment = own!.trimEnd();
      next.commentBefore = joined(given!, next.commentBefore);
      if (own!.endsWith("\n")) next.spaceBefore = true;
    },
  });
}

/** The innermost collection in which a line of this indentation stands. */
function ownerOf(line: string, around: readonly Collection[], source: string): Collection | undefined {
  const indentation = line.indexOf("#");
  return around.findLast(({ flow, range }) => {
    if (flow || !range) return false;
    return range[0] - (source.lastIndexOf("\n", range[0] - 1) + 1) <= indentation;
  });
}

/** The entry of a collection after the one that a path leads through. */
function entryAfter({ items }: Collection, path: readonly unknown[]): Node | undefined {
  const next: unknown = items[items.findIndex((item) => path.includes(item)) + 1];
  const node = isPair(next) ? next.key : next;
  return isNode(node) ? node : undefined;
}

const commentIn = (lines: readonly string[]): string =>
  lines.map((line) => line.trim().replace(/^#/, "")).join("\n");

const joined = (comment: string, other: string | null | undefined): string =>
  other == null ? comment : `${comment}\n${other}`;
