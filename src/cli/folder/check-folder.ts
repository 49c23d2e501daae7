import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../import/source";
import { digestOf } from "./folder-writer";
import { problemsOfRecord } from "./check-records";
import {
  CONTENTS,
  FORMAT,
  FORMAT_VERSION,
  MANIFEST,
  PART_NAMES,
  PARTS,
  REPORT,
  STATE,
  type Gap,
  type Manifest,
} from "./format";
import { LineError, linesOf } from "./lines";
import { RepeatedRecords } from "./repeated-records";

/** A folder that is no complete export: one problem per line, as `file:line: message`; a missing file has no line. */
export class DamagedFolderError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** Names of files that lead nowhere else. */
const PLAIN_NAME = /^[a-z-]+\.(ndjson|json)$/;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const ADVICE =
  "Nothing was imported: an import needs the folder as `parley export` wrote it. Copy the folder again, or export again.";
/** Problems that are printed; the others are counted. */
const MOST_PROBLEMS = 20;

/**
 * Checks that a folder is a complete export, as it was written: nothing is imported from a damaged one.
 * @throws DamagedFolderError
 */
export async function checkFolder(folder: string): Promise<Manifest> {
  const manifest = manifestIn(folder);
  const problems: string[] = [];
  // A file without an entry would be imported unchecked.
  for (const name of [REPORT, ...Object.values(PARTS)])
    if (!Object.hasOwn(manifest.files, name) && (name === REPORT || existsSync(join(folder, name))))
      problems.push(`${join(folder, MANIFEST)}:1: The manifest has no entry for ${name}.`);
  for (const [name, entry] of Object.entries(manifest.files)) {
    const path = join(folder, name);
    if (!isFile(path)) problems.push(`${path}: The file is missing.`);
    else if ((await digestOf(path)).sha256 !== entry.sha256) problems.push(await damageOf(path, entry.bytes));
  }
  if (problems.length === 0) problems.push(...(await problemsOfRecords(folder)));
  if (problems.length === 0) problems.push(...(await problemsOfContents(folder)));
  if (problems.length > MOST_PROBLEMS)
    problems.splice(MOST_PROBLEMS, problems.length, `${problems.length - MOST_PROBLEMS} more problems.`);
  if (problems.length > 0) throw new DamagedFolderError([...problems, ADVICE]);
  return manifest;
}

function manifestIn(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  const fail = (message: string): never => {
    throw new DamagedFolderError([`${path}:1: ${message}`]);
  };
  if (existsSync(join(folder, STATE)))
    return fail("The export is not complete. Continue it with the command that began it.");
  if (!isFile(path))
    throw new DamagedFolderError([`${path}: The file is missing: this folder is not an export.`]);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return fail(`The file is not JSON: ${(error as Error).message}.`);
  }
  if (!isObject(value) || value.format !== FORMAT || !isObject(value.files))
    return fail(`The file is not a manifest of the format ${FORMAT}.`);
  if (value.formatVersion !== FORMAT_VERSION)
    return fail(
      `The folder has version ${JSON.stringify(value.formatVersion)} of the format, and this Parley reads version ${FORMAT_VERSION}.`,
    );
  for (const [name, entry] of Object.entries(value.files))
    if (!PLAIN_NAME.test(name) || !isObject(entry) || typeof entry.sha256 !== "string")
      return fail(
        `The entry ${JSON.stringify(name)} must be the name of a file in the folder, with its sha256.`,
      );
  return value as unknown as Manifest; // its digests prove that an export has written it
}

/** Where a file differs from what was written, as far as its lines say it. */
async function damageOf(path: string, bytes: number): Promise<string> {
  try {
    if (path.endsWith(".ndjson")) for await (const _ of linesOf(path));
  } catch (error) {
    if (error instanceof LineError) return error.message;
    throw error;
  }
  const size = statSync(path).size;
  return size === bytes
    ? `${path}:1: The content differs from what the export wrote: its SHA-256 digest is another one.`
    : `${path}:1: The file has ${size} bytes instead of ${bytes}.`;
}

/** Problems of records that no export writes: somebody has changed them, with the digests. */
async function problemsOfRecords(folder: string): Promise<string[]> {
  const problems: string[] = [];
  for (const part of PART_NAMES) {
    const path = join(folder, PARTS[part]);
    const repeated = new RepeatedRecords(part);
    for await (const { number, line } of linesOf(path)) {
      const found = problemsOfRecord(part, line);
      if (found.length === 0) repeated.add(line);
      problems.push(...found.map((problem) => `${path}:${number}: ${problem}`));
    }
    problems.push(...(await repeated.problemsIn(path)));
  }
  const gaps = reportIn(folder);
  if (!gaps) problems.push(`${join(folder, REPORT)}:1: The file is not a report of an export.`);
  return problems;
}

/** The gaps that an export reports; undefined if the file is not such a report. */
export function reportIn(folder: string): readonly Gap[] | undefined {
  try {
    const { notRead } = JSON.parse(readFileSync(join(folder, REPORT), "utf8")) as { notRead: unknown };
    return Array.isArray(notRead) && notRead.every(isObject) ? (notRead as unknown as Gap[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Problems of the contents of files, whose digests stand in their records. */
async function problemsOfContents(folder: string): Promise<string[]> {
  const problems: string[] = [];
  const list = join(folder, PARTS.files);
  for await (const { number, line } of linesOf(list)) {
    const path = contentOf(folder, line.content);
    if (path === undefined) problems.push(`${list}:${number}: content must name a file in ${CONTENTS}/.`);
    else if (!isFile(path)) problems.push(`${list}:${number}: ${path} is missing.`);
    else if ((await digestOf(path)).sha256 !== line.sha256)
      problems.push(`${list}:${number}: ${path} differs from what the export wrote.`);
  }
  return problems;
}

/** Path of the content of a file; undefined for a name that leads out of the folder. */
export function contentOf(folder: string, name: unknown): string | undefined {
  const [, plain] = /^files\/([a-z0-9_][a-z0-9-]*)$/.exec(String(name)) ?? [];
  return plain === undefined ? undefined : join(folder, CONTENTS, plain);
}
