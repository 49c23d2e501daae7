import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { quoted } from "../../platform/errors";
import { Checker, type Schemas } from "./check";
import { isRecord, KIND_NAMES, KINDS, type Fields, type Kind } from "./kinds";
import { below, namedBy } from "./places";
import { FileProblems } from "./problems";
import { Resolver, type Surroundings } from "./resolve";
import { maxFileBytes, refusedValues } from "./stored-rules";
import { YamlFile } from "./yaml-file";

/** A record as its file describes it, with the texts and values to which it refers. */
export interface LocalRecord {
  readonly kind: Kind;
  readonly key: string;
  readonly file: YamlFile;
  readonly fields: Fields;
  /** Lines about values that are allowed, but probably not meant. */
  readonly warnings: readonly string[];
}

const looksLikeRecord = (name: string) => /\.(ya?ml|json)$/i.test(name);

/**
 * Lines about files that look like records, but that no command reads: at any depth of the folders of records, and YAML files
 * in the folder and in those beside them, whose names may be mistyped.
 * @param used files that records name
 */
function misplaced(folder: string, used: ReadonlySet<string>): string[] {
  const places: readonly string[] = KIND_NAMES.map((kind) => KINDS[kind].folder);
  const expected = places.map((place) => `${place}/`).join(", ");
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".")) return [];
    if (!entry.isDirectory()) return entry.name;
    const recursive = places.includes(entry.name);
    return below(join(folder, entry.name), recursive).map((path) => relative(folder, path));
  });
  return found.sort().flatMap((path) => {
    const [place, name, ...deeper] = path.split(sep);
    const isPlace = places.includes(place!);
    const isInPlace = isPlace && name !== undefined && deeper.length === 0;
    const isHidden = path.split(sep).some((part) => part.startsWith("."));
    if (isHidden || !looksLikeRecord(path) || used.has(join(folder, path))) return [];
    if (isInPlace ? isRecord(name) : !isPlace && /\.json$/i.test(path)) return [];
    const reason = isInPlace
      ? "The names of files with records end in .yaml or .yml."
      : `Records belong in ${expected}, not in folders below them.`;
    return [`${join(folder, path)}:1:1: No command reads this file. ${reason}`];
  });
}

/** The YAML files of a folder. @throws FileProblems about files that cannot be read */
export function readYaml(folder: string): YamlFile[] {
  const files = KIND_NAMES.flatMap((kind) => {
    const place = join(folder, KINDS[kind].folder);
    if (!existsSync(place)) return [];
    if (!statSync(place).isDirectory()) return [`${place}:1:1: This must be a folder, not a file.`];
    const names = readdirSync(place).filter(isRecord);
    return names.sort().map((name) => open(join(place, name), kind));
  });
  const problems = files.flatMap((file) => (file instanceof YamlFile ? file.problems : [file]));
  if (problems.length > 0) throw new FileProblems(problems);
  return files as YamlFile[]; // all others are problems
}

function open(path: string, kind: Kind): YamlFile | string {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // pull leaves the byte order mark
    return new YamlFile(path, kind, decoder.decode(readFileSync(path)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code?.startsWith("E") && !code.startsWith("ERR")
        ? `cannot be read (${code})`
        : "is not a text in UTF-8";
    return `${path}:1:1: The file ${reason}.`;
  }
}

/** Reads and checks all records of a folder. @throws FileProblems with everything that is wrong */
export async function readFolder(surroundings: Surroundings, schemas: Schemas): Promise<LocalRecord[]> {
  const { folder } = surroundings;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`There is no folder ${folder}. \`npm run parley -- pull\` creates it.`);
  const files = readYaml(folder);
  const checker = new Checker(schemas);
  const problems = [
    ...misplaced(folder, new Set(files.flatMap(namedBy))),
    ...files.flatMap((file) => checker.problemsOf(file)),
  ];
  if (problems.length === 0) problems.push(...duplicates(files));
  if (problems.length > 0) throw new FileProblems(problems);
  const records: LocalRecord[] = [];
  for (const file of files) {
    const resolver = new Resolver(file, file.path, surroundings);
    const fields = await resolver.fields();
    records.push({ kind: file.kind, key: file.key, file, fields, warnings: [...new Set(resolver.warnings)] });
    problems.push(...resolver.problems);
  }
  problems.push(...records.flatMap((record) => refusedValues(record, maxFileBytes(schemas))));
  if (problems.length > 0) throw new FileProblems(problems);
  return records;
}

/** Lines about files with the key of another one. */
export function duplicates(files: readonly YamlFile[]): string[] {
  const first = new Map<string, YamlFile>();
  return files.flatMap((file) => {
    const id = `${file.kind} ${file.key}`;
    const other = first.get(id);
    if (!other) first.set(id, file);
    return other ? [file.problemAt(["key"], `${other.path} has the key ${quoted(file.key)}, too.`)] : [];
  });
}
