import { CHANNELS, Expanded, isFields, Secret, sentValue, type Fields, type KnowledgeFile } from "./kinds";

/** A field that differs. */
export interface Change {
  readonly path: readonly string[];
  /** Undefined if the server has no such value. */
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Whether two values are the same.
 * @param inOrder whether the order of fields counts
 */
export function equal(one: unknown, other: unknown, inOrder = false): boolean {
  if (one === other) return true;
  if (one instanceof Expanded || other instanceof Expanded) return sentValue(one) === sentValue(other);
  if (one instanceof Secret || other instanceof Secret)
    return one instanceof Secret && other instanceof Secret && one.value === other.value;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => equal(value, other[index], inOrder));
  if (!isFields(one) || !isFields(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length &&
    names.every(
      (name, index) =>
        (inOrder ? others[index] === name : Object.hasOwn(other, name)) &&
        equal(one[name], other[name], inOrder),
    )
  );
}

const FUNCTIONS: readonly string[] = CHANNELS.map((channel) => `${channel}.functions`);

/** Whether a value has the functions of a channel, whose fields models read in their order. */
export const areFunctions = (path: readonly string[]): boolean => FUNCTIONS.includes(path.join("."));

const digests = (files: readonly KnowledgeFile[]) =>
  files.map(({ name, digest }) => `${digest} ${name}`).sort();

/** Whether an assistant has the same files, in any order. */
export const equalFiles = (one: readonly KnowledgeFile[], other: readonly KnowledgeFile[]): boolean =>
  equal(digests(one), digests(other));

/** Fields of records whose own fields are compared one by one. All others are compared as a whole. */
const DIVIDED = /^(voice|sms|chat|theme|rag|rag\.(voice|sms|chat))$/;

/** The fields of a file that the server's record has with other values. */
export function changesBetween(after: Fields, before: Fields, at: readonly string[] = []): Change[] {
  return Object.entries(after).flatMap(([name, value]) => {
    const path = [...at, name];
    const old = before[name];
    if (DIVIDED.test(path.join(".")) && isFields(value) && isFields(old))
      return changesBetween(value, old, path);
    if (at.length === 0 && name === "nodes") return changesOfNodes(value as Fields, (old ?? {}) as Fields);
    const isSame =
      name === "files" && at.length === 0
        ? equalFiles(value as readonly KnowledgeFile[], (old ?? []) as readonly KnowledgeFile[])
        : equal(value, old, areFunctions(path));
    return isSame ? [] : [{ path, before: old, after: value }];
  });
}

/** The nodes that differ. One that the file does not have is removed. */
function changesOfNodes(after: Fields, before: Fields): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !equal(after[name], before[name]))
    .map((name) => ({ path: ["nodes", name], before: before[name], after: after[name] }));
}

/** The changed values as nested fields. */
export function changedFields(changes: readonly Change[]): Fields {
  const fields: Record<string, unknown> = {};
  for (const { path, after } of changes) {
    let place = fields;
    for (const name of path.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>;
    place[path.at(-1)!] = after;
  }
  return fields;
}
