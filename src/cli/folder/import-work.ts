import { join } from "node:path";
import { isObject, objectsIn } from "../import/source";
import type { Report } from "../import/report";
import type { Target } from "../import/target";
import type { JsonObject } from "../../platform/json/json-object";
import { PARTS, type Line, type Part } from "./format";
import { linesOf } from "./lines";

/** Everything that the parts of an import use. */
export interface FolderImport {
  readonly folder: string;
  readonly target: Target;
  readonly report: Report;
  readonly progress: (line: string) => void;
}

/** The records of a part. */
export async function* recordsOf({ folder }: FolderImport, part: Part): AsyncGenerator<Line> {
  for await (const { line } of linesOf(join(folder, PARTS[part]))) yield line;
}

/** The fields of a record with these names that it has. */
export const picked = (record: JsonObject, names: string): JsonObject =>
  Object.fromEntries(names.split(" ").flatMap((name) => (name in record ? [[name, record[name]]] : [])));

/** How records of a kind are stored. */
export interface Kind {
  readonly part: Part;
  /** The kind in the singular, for the report. */
  readonly noun: string;
  /** The mutation that stores one, and the type of its input. */
  readonly mutation: string;
  readonly input: string;
  /** A query of those that are here, as `records`, of the organization and of its projects. */
  readonly stored: string;
}

/** Stores the records of a part in turn. @param inputOf returns undefined for a record that is left out */
export async function storeAll(
  work: FolderImport,
  kind: Kind,
  inputOf: (record: Line) => JsonObject | undefined,
): Promise<void> {
  const { target, report, progress } = work;
  const stored = await changesOf(work, kind.stored);
  const query = `mutation ($input: ${kind.input}!) { result: ${kind.mutation}(input: $input) { id updatedAt } }`;
  let count = 0;
  for await (const record of recordsOf(work, kind.part)) {
    progress(`${kind.part}: ${++count}`);
    const id = record.id as string;
    const input = inputOf(record);
    const answer = input && (await target.store(kind.noun, id, query, { input }));
    if (!answer) continue;
    const isSame = stored.has(id) && stored.get(id) === (answer.result as JsonObject).updatedAt;
    report[isSame ? "unchanged" : "stored"](kind.part);
  }
}

/** The times of the last changes of records that are here, by their ids. */
async function changesOf({ target }: FolderImport, query: string): Promise<Map<unknown, unknown>> {
  const { records, projects } = await target.run(query);
  const ofProjects = objectsIn(projects).flatMap((project) => objectsIn(project.records));
  return new Map([...objectsIn(records), ...ofProjects].map(({ id, updatedAt }) => [id, updatedAt]));
}

/** The value of a field that is an object. */
export const objectIn = (record: JsonObject, name: string): JsonObject => {
  const value = record[name];
  return isObject(value) ? value : {};
};
