import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { counted } from "../../platform/errors";

/** Ids that a line of the printed report names; the written report has all. */
const SHOWN_IDS = 3;
const PRIVATE = 0o600;

interface Count {
  stored: number;
  unchanged: number;
}

/** Checks that the report can be written, before the import begins. @throws Error that says why not */
export function checkReport(file: string): void {
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, "a", PRIVATE));
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new Error(`--report cannot be written: ${UNWRITABLE[code]?.(file) ?? message}.`, { cause: error });
  }
  if (isNew) rmSync(file);
}

const UNWRITABLE: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `there is no folder ${dirname(file)}`,
  ENOTDIR: (file) => `${dirname(file)} is not a folder`,
  EISDIR: (file) => `${file} is a folder`,
};

/** Notes values and records that were not taken over. */
export type Notes = Pick<Report, "note" | "refuse">;

/** Collects what an import has stored, and everything that it could not take over. */
export class Report {
  private readonly counts = new Map<string, Count>();
  private readonly missing = new Map<string, string[]>();
  private failed = false;

  /** @param isExact whether unchanged records are those that this run has left as they were */
  constructor(private readonly isExact = false) {}

  /** @param what the kind of records, in the plural */
  stored(what: string, count = 1): void {
    this.countOf(what).stored += count;
  }

  /** Counts records that were here before, and may have been made equal to those of the source unless counts are exact. */
  unchanged(what: string, count = 1): void {
    this.countOf(what).unchanged += count;
  }

  /** Notes a value that has no place here. @param id of the record, unless the sentence is about all */
  note(sentence: string, id?: string): void {
    const ids = this.missing.get(sentence) ?? [];
    if (id !== undefined) ids.push(id);
    this.missing.set(sentence, ids);
  }

  /** Notes a record that was not imported, so that a second run may help. */
  refuse(sentence: string, id?: string): void {
    this.failed = true;
    this.note(sentence, id);
  }

  /** The same report; its sentences begin with the side whose fields they name. */
  of(side: string): Notes {
    return {
      note: (sentence, id) => this.note(`${side}: ${sentence}`, id),
      refuse: (sentence, id) => this.refuse(`${side}: ${sentence}`, id),
    };
  }

  /** Whether a record that the source gave could not be stored. */
  get isIncomplete(): boolean {
    return this.failed;
  }

  /** Whether a record was stored, or was here before. */
  get hasRecords(): boolean {
    return this.counts.size > 0;
  }

  get isEmpty(): boolean {
    return !this.hasRecords && this.missing.size === 0;
  }

  lines(): string[] {
    const counts = [...this.counts].map(
      ([what, { stored, unchanged }]) => `  ${what}: ${stored} imported, ${unchanged} already here`,
    );
    const missing = [...joined(this.missing)].map(([sentence, ids]) => `  - ${sentence}${idsIn(ids)}`);
    const isSame = counts.length > 0 && [...this.counts.values()].every(({ stored }) => stored === 0);
    const rest = this.failed
      ? "what is listed below was refused"
      : "everything that can be taken over is here";
    return [
      "Imported:",
      ...(counts.length > 0 ? counts : ["  nothing"]),
      ...(isSame && this.isExact ? [`Nothing has changed: ${rest}.`] : []),
      ...(missing.length > 0 ? ["", "Not taken over:", ...missing] : []),
    ];
  }

  write(file: string): void {
    const notTakenOver = [...this.missing].map(([reason, ids]) => ({ reason, ids }));
    const content = { imported: Object.fromEntries(this.counts), notTakenOver };
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`, { mode: PRIVATE });
  }

  private countOf(what: string): Count {
    const count = this.counts.get(what) ?? { stored: 0, unchanged: 0 };
    this.counts.set(what, count);
    return count;
  }
}

/** A sentence about a field of one side: the side, the path of the field, and what is said about it, from the verb on. */
const OF_FIELD = /^(\w+: )([^\s:]+) (?!of )(.+)$/s;

/** The same sentences, with one for all fields of the same records about which the same is said. */
function joined(missing: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const groups = new Map<string, { readonly sentences: string[]; readonly ids: readonly string[] }>();
  for (const [sentence, ids] of missing) {
    const [, side, , said] = OF_FIELD.exec(sentence) ?? [];
    const key = said === undefined ? sentence : JSON.stringify([side, said, ids]);
    const group = groups.get(key) ?? { sentences: [], ids };
    group.sentences.push(sentence);
    groups.set(key, group);
  }
  return new Map([...groups.values()].map(({ sentences, ids }) => [joinedSentence(sentences), ids]));
}

function joinedSentence(sentences: readonly string[]): string {
  if (sentences.length === 1) return sentences[0]!;
  const [, side, , said] = OF_FIELD.exec(sentences[0]!)!; // only sentences about fields are joined
  const paths = sentences.map((sentence) => OF_FIELD.exec(sentence)![2]);
  return `${side}${paths.join(", ")}: each ${said}`;
}

function idsIn(ids: readonly string[]): string {
  if (ids.length === 0) return "";
  const more = ids.length - SHOWN_IDS;
  return ` [${ids.slice(0, SHOWN_IDS).join(", ")}${more > 0 ? `, and ${counted(more, "other")}` : ""}]`;
}
