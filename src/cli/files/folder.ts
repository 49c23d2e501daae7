import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../../platform/errors";
import { Checker, type Schemas } from "./check";
import { KIND_NAMES, KINDS, type Fields, type Kind } from "./kinds";
import { FileProblems } from "./problems";
import { Resolver, type Surroundings } from "./resolve";
import { refusedValues } from "./stored-rules";
import { YamlFile } from "./yaml-file";

/** A record as its file describes it, with the texts and values to which it refers. */
export interface LocalRecord {
  readonly kind: Kind;
  readonly key: string;
  readonly file: YamlFile;
  readonly fields: Fields;
}

/**
 * YAML files that stand where no command reads them: in a folder with a mistyped name, their records would seem deleted.
 */
function misplaced(folder: string): string[] {
  const places: readonly string[] = KIND_NAMES.map((kind) => KINDS[kind].folder);
  const isYaml = (name: string) => /\.ya?ml$/.test(name) && !name.startsWith(".");
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return isYaml(entry.name) ? [join(folder, entry.name)] : [];
    if (places.includes(entry.name) || entry.name.startsWith(".")) return [];
    const names = readdirSync(join(folder, entry.name)).filter(isYaml);
    return names.map((name) => join(folder, entry.name, name));
  });
  const expected = places.map((place) => `${place}/`).join(", ");
  return found.map((path) => `${path}:1:1: No command reads this file. Records stand in ${expected}.`);
}

/** The YAML files of a folder. @throws FileProblems about files that cannot be read */
export function readYaml(folder: string): YamlFile[] {
  const files = KIND_NAMES.flatMap((kind) => {
    const place = join(folder, KINDS[kind].folder);
    if (!existsSync(place)) return [];
    const names = readdirSync(place).filter((name) => /\.ya?ml$/.test(name) && !name.startsWith("."));
    return names.sort().map((name) => open(join(place, name), kind));
  });
  const problems = files.flatMap((file) => (file instanceof YamlFile ? file.problems : [file]));
  if (problems.length > 0) throw new FileProblems(problems);
  return files as YamlFile[]; // all others are problems
}

function open(path: string, kind: Kind): YamlFile | string {
  try {
    return new YamlFile(path, kind, new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)));
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
  const problems = [...misplaced(folder), ...files.flatMap((file) => checker.problemsOf(file))];
  if (problems.length === 0) problems.push(...duplicates(files));
  if (problems.length > 0) throw new FileProblems(problems);
  const records = files.map((file) => {
    const resolver = new Resolver(file, file.path, surroundings);
    const record = { kind: file.kind, key: file.key, file, fields: resolver.fields() };
    problems.push(...resolver.problems);
    return record;
  });
  for (const record of records) problems.push(...(await refusedValues(record)));
  if (problems.length > 0) throw new FileProblems(problems);
  return records;
}

function duplicates(files: readonly YamlFile[]): string[] {
  const first = new Map<string, YamlFile>();
  return files.flatMap((file) => {
    const id = `${file.kind} ${file.key}`;
    const other = first.get(id);
    if (!other) first.set(id, file);
    return other ? [file.problemAt(["key"], `${other.path} has the key ${quoted(file.key)}, too.`)] : [];
  });
}
