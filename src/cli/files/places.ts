import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize, parse, relative, sep } from "node:path";
import { shortName } from "../../assistants/files/describe";
import { besideIn, type Beside } from "./beside";
import { CHANNELS, isFields, KIND_NAMES, KINDS, type Fields } from "./kinds";
import { contentOf } from "./write-files";
import type { YamlFile } from "./yaml-file";

/** A record as it is written. */
export interface Draft {
  /** Path of its YAML file. */
  readonly path: string;
  readonly fields: Fields;
}

interface Use {
  readonly draft: Draft;
  readonly value: Beside;
}

/** Longest name of a new file, in bytes: file systems allow 255, with a number or the end of a draft. */
const MAX_BYTES = 240;

/** Finds paths for files so that no file overwrites another, even on a file system that ignores case. */
export class Places {
  /** Paths of files with records, and paths that these files name. */
  private readonly taken: Set<string>;
  private readonly existing: ReadonlySet<string>;

  constructor(folder: string, present: readonly YamlFile[]) {
    this.taken = new Set(present.flatMap((file) => [file.path, ...namedBy(file)]).map(folded));
    this.existing = new Set(
      KIND_NAMES.flatMap((kind) => below(join(folder, KINDS[kind].folder))).map(folded),
    );
  }

  /**
   * Reserves a free path.
   * @param path the first choice
   * @param fits whether an existing file that no record names may be used, because it has this content
   */
  free(path: string, fits: (content: Buffer | undefined) => boolean = () => false): string {
    const { dir, base } = parse(path);
    const { name, ext } = parse(shortName(base, MAX_BYTES));
    for (let number = 1; ; number++) {
      const choice = join(dir, `${name}${number === 1 ? "" : `-${number}`}${ext}`);
      const id = folded(choice);
      if (this.taken.has(id) || (this.existing.has(id) && !fits(contentOf(choice)))) continue;
      this.taken.add(id);
      return choice;
    }
  }

  /**
   * Gives a path to each value that is stored outside its YAML file. A value keeps the file that the YAML file names, unless
   * it is that of a record, or other records name the same file for another content.
   * @param others files of records that are not written
   */
  giveTo(drafts: readonly Draft[], others: readonly YamlFile[], print: (line: string) => void): void {
    const fixed = new Set(others.flatMap(namedBy));
    const records = new Set([...drafts, ...others].map(({ path }) => folded(path)));
    const uses = drafts.flatMap((draft) => besideIn(draft.fields).map((value) => ({ draft, value })));
    for (const [path, sharing] of byPath(uses)) {
      const isRecord = records.has(folded(path));
      for (const use of isRecord ? sharing : leaving(path, sharing, fixed.has(path))) {
        this.move(use);
        const { draft, value } = use;
        const why = isRecord
          ? "that is the file of a record"
          : "the content differs from that of other records that name this file";
        print(`${draft.path} names ${value.place} instead of ${value.named}: ${why}.`);
      }
    }
    for (const use of uses) if (use.value.place === undefined && !use.value.isInline) this.move(use);
  }

  private move({ draft, value }: Use): void {
    const path = this.free(beside(draft.path, portable(value.path)), (content) => value.fits(content));
    value.place = relative(dirname(draft.path), path).replaceAll(sep, "/");
  }
}

/** A path below a folder with names that Windows, too, allows: none of a device, and none that ends with a point or a space. */
export const portable = (path: string): string =>
  path
    .replaceAll(/(?<![^/])(?:con|prn|aux|nul|com\d|lpt\d)(?![^./])/gi, "$&-")
    .replaceAll(/[. ](?![^/])/g, "-");

/** Values that have a file, by its path. */
function byPath(uses: readonly Use[]): ReadonlyMap<string, readonly Use[]> {
  const all = new Map<string, Use[]>();
  for (const use of uses) {
    const { draft, value } = use;
    if (value.named === undefined) continue;
    const path = beside(draft.path, value.named);
    all.set(path, [...(all.get(path) ?? []), use]);
  }
  return all;
}

/** Values that need another file: those that differ from the file's content or, if none equals it, from the first value. */
function leaving(path: string, uses: readonly Use[], isFixed: boolean): readonly Use[] {
  const { identity } = uses[0]!.value;
  if (!isFixed && uses.every(({ value }) => value.identity === identity)) return [];
  const content = contentOf(path);
  const differing = uses.filter(({ value }) => !value.fits(content));
  return isFixed || differing.length < uses.length
    ? differing
    : uses.filter(({ value }) => value.identity !== identity);
}

/** A path that a YAML file names. */
export const beside = (yaml: string, path: string): string => normalize(join(dirname(yaml), path));

const folded = (path: string): string => normalize(path).normalize("NFC").toLowerCase();

/** Paths of everything in a folder, and below it if `recursive`. Links to folders are not followed: they may lead back. */
export const below = (folder: string, recursive = true): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive, withFileTypes: true }).map(({ parentPath, name }) =>
        join(parentPath, name),
      )
    : [];

/** Paths of the texts and attached files that a YAML file names. */
export function namedBy({ path, fields }: YamlFile): string[] {
  const parts = [
    ...CHANNELS.map((channel) => fields[channel]),
    ...(isFields(fields.nodes) ? Object.values(fields.nodes) : []),
  ];
  const texts = parts.filter(isFields).flatMap((part) => [part.prompt, part.resources, part.instructions]);
  const entries = Array.isArray(fields.files) ? (fields.files as unknown[]) : [];
  const names = [...texts.filter(isFields), ...entries].map((one) => (isFields(one) ? one.file : one));
  return names.filter((name) => typeof name === "string").map((name) => beside(path, name));
}
