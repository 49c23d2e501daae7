import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { currentDate } from "../../platform/clock";
import { exactJson } from "../../platform/json/json-source";
import { makeOutputFolder } from "./output-folder";
import {
  CONTENTS,
  FORMAT,
  FORMAT_VERSION,
  MANIFEST,
  PARTS,
  STATE,
  type Gap,
  type Line,
  type Part,
} from "./format";

/** How far an export is. */
export interface State {
  readonly format: typeof FORMAT;
  readonly formatVersion: number;
  readonly organizationId: string;
  readonly source: string;
  readonly startedAt: string;
  /** Finished parts with their numbers of records. */
  readonly finished: Partial<Record<Part, number>>;
  readonly gaps: Record<string, string[]>;
  /** Parts that could not be read. */
  readonly unread: Part[];
  /** Place in the part in progress. */
  current?: Place | undefined;
}

interface Place {
  readonly part: Part;
  /** Cursor of the last record, where the server has cursors. */
  readonly cursor: string | null;
  readonly bytes: number;
  readonly records: number;
}

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Writes the files of an export so that it can be killed at any moment and continued. */
export class FolderWriter {
  private constructor(
    readonly folder: string,
    readonly state: State,
  ) {}

  /**
   * Begins an export in an empty folder, or continues the one in it.
   * @throws Error if the folder has something else
   */
  static open(folder: string, source: string, organizationId: string): FolderWriter {
    makeOutputFolder(join(folder, CONTENTS), PRIVATE_FOLDER);
    const state = stateIn(folder) ?? newState(folder, source, organizationId);
    if (state.organizationId !== organizationId)
      throw new Error(
        `${folder} has an unfinished export of the organization ${state.organizationId}, and the key belongs to ${organizationId}. Name another folder.`,
      );
    const writer = new FolderWriter(folder, state);
    writer.save();
    return writer;
  }

  /** Whether a folder has an export that can be continued. */
  static hasBegun(folder: string): boolean {
    return existsSync(join(folder, STATE));
  }

  isFinished(part: Part): boolean {
    return this.state.finished[part] !== undefined || this.state.unread.includes(part);
  }

  /** Place at which a part continues; its file then ends there. @param restart whether to begin it anew */
  begin(part: Part, restart = false): Place {
    const path = this.partial(part);
    const { current } = this.state;
    const size = existsSync(path) ? statSync(path).size : 0;
    const isKept = !restart && current?.part === part && size >= current.bytes;
    const place = isKept ? current : { part, cursor: null, bytes: 0, records: 0 };
    writeFileSync(path, "", { flag: "a", mode: PRIVATE });
    truncateSync(path, place.bytes);
    this.state.current = place;
    return place;
  }

  /** Adds records to the part in progress. */
  append(lines: readonly Line[], cursor: string | null): void {
    const { part, bytes, records } = this.state.current!; // between `begin` and `finish`
    this.checkAlone(part, bytes);
    const text = lines.map((line) => `${exactJson(line)}\n`).join("");
    appendFileSync(this.partial(part), text);
    const place = { part, cursor, bytes: bytes + Buffer.byteLength(text), records: records + lines.length };
    this.state.current = place;
    this.save();
  }

  finish(part: Part): void {
    const path = this.partial(part);
    this.checkAlone(part, this.state.current!.bytes);
    const file = openSync(path, "r+");
    fsyncSync(file);
    closeSync(file);
    renameSync(path, join(this.folder, PARTS[part]));
    this.state.finished[part] = this.state.current!.records;
    this.state.current = undefined;
    this.save();
  }

  /** Notes that a part cannot be read. */
  skip(part: Part, reason: string): void {
    this.state.unread.push(part);
    this.state.current = undefined;
    this.gap(reason);
  }

  /** Notes what the folder lacks. @param id of the record, unless the sentence is about all */
  gap(reason: string, id?: string): void {
    const ids = (this.state.gaps[reason] ??= []);
    if (id !== undefined && !ids.includes(id)) ids.push(id);
    this.save();
  }

  get gaps(): Gap[] {
    return Object.entries(this.state.gaps).map(([reason, ids]) => ({ reason, ids }));
  }

  /** Path of the file of a part, which is finished or in progress. */
  pathOf(part: Part): string {
    return this.state.finished[part] === undefined ? this.partial(part) : join(this.folder, PARTS[part]);
  }

  /** Writes a whole file: it has its content or does not exist. */
  write(name: string, content: string | Buffer): void {
    const path = join(this.folder, name);
    writeFileSync(`${path}.partial`, content, { mode: PRIVATE });
    renameSync(`${path}.partial`, path);
  }

  /** Writes the last file. Afterwards the export cannot be continued. */
  complete(name: string, content: string): void {
    this.write(name, content);
    unlinkSync(join(this.folder, STATE));
  }

  /** @throws Error if another process writes into the file, whose records would stand in it twice */
  private checkAlone(part: Part, bytes: number): void {
    const size = statSync(this.partial(part), { throwIfNoEntry: false })?.size;
    if (size !== bytes)
      throw new Error(
        `Another export writes into ${this.folder}. Wait for its end, or end it; then run the same command again.`,
      );
  }

  private save(): void {
    this.write(STATE, `${JSON.stringify(this.state)}\n`);
  }

  private partial(part: Part): string {
    return join(this.folder, `${PARTS[part]}.partial`);
  }
}

function stateIn(folder: string): State | undefined {
  const path = join(folder, STATE);
  if (existsSync(path)) return readState(path);
  if (existsSync(join(folder, MANIFEST)))
    throw new Error(`${folder} has a complete export. Name another folder, or delete this one.`);
  return undefined;
}

/** @throws Error if the system has lost its content, as a power failure may */
function readState(path: string): State {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as State; // renamed when it was complete
  } catch (error) {
    throw new Error(`${path} is damaged, so this export cannot continue. Export into another folder.`, {
      cause: error,
    });
  }
}

function newState(folder: string, source: string, organizationId: string): State {
  const others = readdirSync(folder).filter((name) => name !== CONTENTS && name !== `${STATE}.partial`);
  if (others.length > 0 || readdirSync(join(folder, CONTENTS)).length > 0)
    throw new Error(`${folder} has files that belong to no export. Name an empty folder.`);
  const startedAt = currentDate().toISOString();
  const start = { format: FORMAT, formatVersion: FORMAT_VERSION } as const;
  return { ...start, organizationId, source, startedAt, finished: {}, gaps: {}, unread: [] };
}

/** The SHA-256 digest of a file, and its size. */
export async function digestOf(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}
