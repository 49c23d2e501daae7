import { isDeepStrictEqual } from "node:util";
import { exactText } from "../../platform/json/json-source";
import type { JsonObject } from "../../platform/json/json-object";

export type ChangeKind = "ADD" | "REMOVE" | "REPLACE";

/** A difference between two JSON values: an operation of a JSON Patch (RFC 6902), with the value before it. */
export interface DocumentChange {
  readonly kind: ChangeKind;
  /** A JSON Pointer (RFC 6901), such as `/chat/prompt`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The changes that make one value from another, if they are applied in order. The order of keys counts. */
export function differences(before: unknown, after: unknown, path = ""): DocumentChange[] {
  if (Object.is(before, after)) return [];
  if (isObject(before) && isObject(after)) return ofObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(before, after, path);
  return isDeepStrictEqual(before, after) ? [] : [{ kind: "REPLACE", path, before, after }];
}

function ofObjects(before: JsonObject, after: JsonObject, path: string): DocumentChange[] {
  const at = (key: string) => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const kept = Object.keys(before).filter((key) => Object.hasOwn(after, key));
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key));
  const isInOrder = [...kept, ...added].join("\0") === Object.keys(after).join("\0");
  const replaced: DocumentChange = { kind: "REPLACE", path, before, after };
  if (!isInOrder) return [replaced];
  const changes: DocumentChange[] = [
    ...kept.flatMap((key) => differences(before[key], after[key], at(key))),
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key): DocumentChange => ({ kind: "REMOVE", path: at(key), before: before[key], after: null })),
    ...added.map((key): DocumentChange => ({ kind: "ADD", path: at(key), before: null, after: after[key] })),
  ];
  return changes.length === 0 && exactText(before) !== exactText(after) ? [replaced] : changes;
}

function ofLists(before: readonly unknown[], after: readonly unknown[], path: string): DocumentChange[] {
  const common = Math.min(before.length, after.length);
  const removed = before.slice(common).map((value, index): DocumentChange => ({
    kind: "REMOVE",
    path: `${path}/${common + index}`,
    before: value,
    after: null,
  }));
  return [
    ...before
      .slice(0, common)
      .flatMap((value, index) => differences(value, after[index], `${path}/${index}`)),
    ...removed.reverse(), // from the end, so that the places of the others stay
    ...after.slice(common).map((value, index): DocumentChange => ({
      kind: "ADD",
      path: `${path}/${common + index}`,
      before: null,
      after: value,
    })),
  ];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
