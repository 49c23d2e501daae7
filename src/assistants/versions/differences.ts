import { isDeepStrictEqual } from "node:util";
import { diffArrays } from "diff";
import { exactText, isInexact } from "../../platform/json/json-source";
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

/** The changes that turn `before` into `after` if they are applied in order. The order of keys counts. */
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
  if (isInexact(before) || isInexact(after)) return exactText(before) === exactText(after) ? [] : [replaced];
  if (!isInOrder) return [replaced];
  return [
    ...kept.flatMap((key) => differences(before[key], after[key], at(key))),
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key): DocumentChange => ({ kind: "REMOVE", path: at(key), before: before[key], after: null })),
    ...added.map((key): DocumentChange => ({ kind: "ADD", path: at(key), before: null, after: after[key] })),
  ];
}

function ofLists(before: readonly unknown[], after: readonly unknown[], path: string): DocumentChange[] {
  const changes: DocumentChange[] = [];
  const [old, next] = [before.values(), after.values()];
  let place = 0; // those before it are as in the second list
  for (const { both, removed, added } of aligned(before, after)) {
    for (let n = 0; n < both; n++)
      changes.push(...differences(old.next().value, next.next().value, `${path}/${place++}`));
    for (let n = 0; n < removed; n++)
      changes.push({ kind: "REMOVE", path: `${path}/${place}`, before: old.next().value, after: null });
    for (let n = 0; n < added; n++)
      changes.push({ kind: "ADD", path: `${path}/${place++}`, before: null, after: next.next().value });
  }
  return changes;
}

/** A part of two lists: a number of values that correspond, then values that only one of the lists has. */
interface Stretch {
  readonly both: number;
  readonly removed: number;
  readonly added: number;
}

/** Lists with more removed and added values than this are compared by position, which is faster. */
const MOST_EDITS = 500;

/** Finds the values that correspond: equal ones, objects with the same name, and values at the same position between those. */
function aligned(before: readonly unknown[], after: readonly unknown[]): Stretch[] {
  const stretches: Stretch[] = [];
  let [removed, added] = [0, 0];
  const endGap = () => {
    const both = Math.min(removed, added);
    stretches.push({ both, removed: removed - both, added: added - both });
    [removed, added] = [0, 0];
  };
  const parts = diffArrays(before.map(identityOf), after.map(identityOf), { maxEditLength: MOST_EDITS });
  for (const part of parts ?? [
    { removed: true, added: false, count: before.length },
    { removed: false, added: true, count: after.length },
  ])
    if (part.removed) removed += part.count;
    else if (part.added) added += part.count;
    else {
      endGap();
      stretches.push({ both: part.count, removed: 0, added: 0 });
    }
  endGap();
  return stretches;
}

/** A text that identifies a value of a list: the name of a function, or the whole value. */
function identityOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const name = isObject(value) ? nameOf(value) : undefined;
  return typeof name === "string" ? `name ${name}` : exactText(value);
}

/** The name of a function stands in the object itself, or in its `function`. */
const nameOf = (value: JsonObject): unknown => (isObject(value.function) ? value.function : value).name;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
