import { stringify } from "yaml";
import { counted } from "../../platform/errors";
import type { Change } from "./changes";
import { changedLines } from "./line-changes";
import { Expanded, isFields, KINDS, Secret } from "./kinds";
import type { Plan, Step } from "./plan";
import type { RemoteRecord } from "./remote";

const MARKS = { create: "+", update: "~", delete: "-" } as const;
/** Longest text that is shown on one line. */
const MAX_SHORT = 100;

/** The plan, as lines for a person. */
export function planLines({ steps, others, warnings, drafts }: Plan): string[] {
  const lines = steps.flatMap((step) => [
    `${MARKS[step.action]} ${titleOf(step)}`,
    ...step.changes.flatMap(changeLines),
  ]);
  const left = others.map(({ kind, key }) => `  ${KINDS[kind].noun} ${key}`);
  return [
    ...warnings,
    ...(steps.length > 0 ? lines : ["The server has everything that the files say."]),
    ...drafts.map((one) => draftLine(one, steps)),
    ...(left.length > 0
      ? ["", `${counted(left.length, "record")} with a key that no file has (--prune deletes them):`, ...left]
      : []),
  ];
}

function draftLine({ id, key, draft }: RemoteRecord, steps: readonly Step[]): string {
  const isDeleted = steps.some(({ action, remote }) => action === "delete" && remote?.id === id);
  const effect = isDeleted ? "apply deletes it with the assistant" : "apply leaves it as it is";
  return `The assistant ${key} has a draft that is based on version ${draft}: ${effect}.`;
}

export const titleOf = ({ record: { kind, key } }: Step): string => `${KINDS[kind].noun} ${key}`;

/** A summary such as "1 to create, 2 to change". */
export function summaryOf(steps: readonly Step[]): string {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  return `${count("create")} to create, ${count("update")} to change, ${count("delete")} to delete.`;
}

function changeLines({ path, before, after }: Change): string[] {
  const stored = new Set(secretsIn(before));
  const [old, now] = [before, after].map((value) => textOf(value, stored)) as [string, string];
  const name = path.join(".");
  const isShort = [old, now].every((text) => text.length <= MAX_SHORT && !/[\r\n]/.test(text));
  if (isShort) return [`    ${name}: ${visible(old)} → ${visible(now)}`];
  const lines = changedLines(old, now).map((line) => (/^[ …]/.test(line) ? line : visible(line)));
  return [`    ${name}:`, ...lines.map((line) => `      ${line}`.trimEnd())];
}

/** A changed line, which may differ only in spaces at its end. */
function visible(line: string): string {
  const words = line.trimEnd();
  const spaces = line.slice(words.length);
  return words + spaces.replaceAll(" ", "·").replaceAll("\t", "⇥").replaceAll("\r", "␍");
}

function textOf(value: unknown, stored: ReadonlySet<string>): string {
  if (typeof value === "string") return value === "" ? '""' : value;
  if (value === undefined) return "(none)";
  if (value instanceof Expanded) return value.form;
  const plain = withoutSecrets(value, stored);
  return typeof plain === "object" && plain !== null
    ? stringify(plain, { lineWidth: 0 }).trimEnd()
    : String(plain);
}

function withoutSecrets(value: unknown, stored: ReadonlySet<string>): unknown {
  if (value instanceof Secret) return stored.has(value.value ?? "") ? "(stored)" : "(new)";
  if (value instanceof Expanded) return value.form;
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, stored));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutSecrets(one, stored)]));
}

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return value.value === undefined ? [] : [value.value];
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  return isFields(value) ? Object.values(value).flatMap(secretsIn) : [];
}
