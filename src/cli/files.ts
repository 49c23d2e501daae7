import { statSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "../platform/errors";
import { parseArguments } from "./arguments";
import COMMANDS from "./commands.json";
import { inFolderOfCaller } from "./folder-of-caller";
import { Application } from "./files/apply";
import { Connection } from "./files/connection";
import { possibleConflictsInFiles } from "./files/file-conflicts";
import { readFolder, type LocalRecord } from "./files/folder";
import { KIND_NAMES, KINDS, type KnowledgeFile } from "./files/kinds";
import { makePlan, type Plan, type Step } from "./files/plan";
import { planLines, summaryOf } from "./files/print-plan";
import { Pull } from "./files/pull";
import { readRemote, type Reading, type Remote } from "./files/remote";
import OWN_SCHEMAS from "./files/schemas.generated.json";
import { unknownFunctions } from "./files/unknown-functions";
import { unofferedFunctions } from "./files/unoffered-functions";
import { outliveReaders } from "./lasting-output";
import { serverAddress, waitOf } from "./transfer-options";

const { usage, commands: OF_FILES } = COMMANDS["cli/files"];
type Name = keyof typeof OF_FILES;
const isName = (text: string): text is Name => Object.hasOwn(OF_FILES, text);
const named = process.argv.slice(2).find(isName);
/** The usage of the named command, or of all commands if none is named. */
const USAGE = named ? OF_FILES[named].usage : usage;
/** Folder of the files if none is named. */
const FOLDER = "parley";
const DIFFERENT = 2;

/** Shorter than for exports and imports: somebody, or a CI job, waits for a few requests. */
const WAIT_SECONDS = 60;

type Waiting = ConstructorParameters<typeof Connection>[2];

interface Options {
  readonly name: string;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly waiting: Waiting;
  readonly dryRun: boolean;
  readonly prune: boolean;
}

/** The work of a command. @returns the exit code */
type Command = (folder: string, options: Options) => Promise<number>;

const COMMAND: Readonly<Record<string, Command>> = { pull, diff, apply, validate };
/** Options of each command besides --url and --key. */
const FLAGS: Readonly<Record<string, readonly string[]>> = { apply: ["dry-run", "prune"], diff: ["prune"] };

const AND = new Intl.ListFormat("en-GB");

const print = (line: string) => console.log(line);

run().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error((error as Error).message);
    process.exitCode = 1;
  },
);

async function run(): Promise<number> {
  outliveReaders();
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArguments(USAGE, {
    options: { url: text, key: text, wait: text, "dry-run": flag, prune: flag },
    allowPositionals: true,
  });
  const [name = "", folder = FOLDER, ...more] = positionals;
  const command = Object.hasOwn(COMMAND, name) ? COMMAND[name] : undefined;
  if (!command && name !== "") throw new Error(`Parley has no command "${name}".\nUsage: ${USAGE}`);
  if (!command || more.length > 0)
    throw new Error(`Name one command, and at most one folder.\nUsage: ${USAGE}`);
  for (const option of ["dry-run", "prune"] as const)
    if (values[option] && !FLAGS[name]?.includes(option))
      throw new Error(`${name} has no option --${option}.\nUsage: ${USAGE}`);
  const { PARLEY_URL, PARLEY_KEY } = process.env;
  inFolderOfCaller();
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Error(`${folder} is a file, not a folder.`);
  const url = values.url ?? PARLEY_URL;
  return command(folder, {
    name,
    url: url && serverAddress(values.url, url, USAGE),
    key: values.key ?? PARLEY_KEY,
    waiting: {
      patienceMs: waitOf(values.wait, USAGE, WAIT_SECONDS) * 1_000,
      say: (line) => console.error(line),
    },
    dryRun: values["dry-run"],
    prune: values.prune,
  });
}

function connectionOf({ name, url, key, waiting, dryRun }: Options): Connection {
  if (!url) throw new Error("Name the server with --url or PARLEY_URL, such as http://127.0.0.1:4000.");
  if (!key) throw new Error("Name a SECRET key of the organization with --key or PARLEY_KEY.");
  // pull gives keys to records without one.
  const needed = ["read", ...(name === "diff" || dryRun ? [] : ["write"]), "webhooks"];
  const advice = `parley ${name} needs a SECRET key without limits, or with the permissions ${AND.format(needed)}: \`npm run --silent key:create -- --permissions ${needed.join(",")}\` makes one on the server.`;
  return new Connection(url, key, waiting, advice);
}

async function validate(folder: string, { url, key, waiting }: Options): Promise<number> {
  const schemas = url ? await new Connection(url, key ?? "", waiting).schemas(KIND_NAMES) : OWN_SCHEMAS;
  const records = await readFolder({ folder, environment: process.env, needsVariables: false }, schemas);
  if (records.length === 0) throw withoutFiles(folder);
  const warnings = records.flatMap((record) => record.warnings);
  const possible = [possibleConflictsInFiles, unofferedFunctions, unknownFunctions];
  for (const line of [...warnings, ...possible.flatMap((linesOf) => linesOf(records))]) print(line);
  const counts = KIND_NAMES.map((kind) => {
    const { noun } = KINDS[kind];
    return counted(records.filter((record) => record.kind === kind).length, noun);
  });
  print(`${resolve(folder)} is valid: ${counts.join(", ")}.`);
  return 0;
}

async function pull(folder: string, options: Options): Promise<number> {
  const connection = connectionOf(options);
  const reading = { connection, schemas: await connection.schemas(KIND_NAMES) };
  const written = await new Pull(reading, folder, process.env, print).run();
  print(written === 0 ? "No file has changed." : `${counted(written, "file")} written.`);
  return 0;
}

/** The files, the server and what differs. */
interface Comparison {
  readonly reading: Reading;
  readonly local: readonly LocalRecord[];
  readonly remote: Remote;
  readonly plan: Plan;
}

async function compare(folder: string, options: Options): Promise<Comparison> {
  const connection = connectionOf(options);
  const schemas = await connection.schemas(KIND_NAMES);
  const local = await readFolder({ folder, environment: process.env, needsVariables: true }, schemas);
  if (local.length === 0) throw withoutFiles(folder);
  const names = local
    .flatMap(({ fields }) => (fields.files ?? []) as readonly KnowledgeFile[])
    .map(({ name }) => name);
  const reading = { connection, schemas, files: new Set(names) };
  const remote = await readRemote(reading);
  return { reading, local, remote, plan: await makePlan(local, remote, reading, options.prune) };
}

function withoutFiles(folder: string): Error {
  const folders = KIND_NAMES.map((kind) => `${KINDS[kind].folder}/`).join(", ");
  return new Error(`${folder} has no files. They belong in ${folders}.`);
}

async function diff(folder: string, options: Options): Promise<number> {
  const { local, plan } = await compare(folder, options);
  for (const line of [...unofferedFunctions(local), ...planLines(plan)]) print(line);
  if (plan.steps.length === 0) return 0;
  print(`\n${summaryOf(plan.steps)}`);
  return DIFFERENT;
}

/** Lines about the values of a file that the server has stored in another form. */
const keptOtherwise = ({ local, changes }: Step): string[] =>
  local
    ? changes.map(({ path }) =>
        local.file.problemAt(
          path,
          `The server has another value of ${path.join(".")}. Write the value as the server has it, or run parley pull, unless somebody has changed it meanwhile.`,
        ),
      )
    : [];

async function apply(folder: string, options: Options): Promise<number> {
  if (options.dryRun) return diff(folder, options);
  const { reading, local, remote, plan } = await compare(folder, options);
  if (plan.steps.length > 0) await reading.connection.checkThatKeyMayChange();
  for (const line of planLines(plan)) print(line);
  if (plan.steps.length === 0) return 0;
  print(`\n${summaryOf(plan.steps)}\n`);
  await new Application(reading, remote, print).run(plan.steps);
  const left = await makePlan(local, await readRemote(reading), reading, options.prune);
  if (left.steps.length === 0) return 0;
  const lines = [
    ...planLines({ ...left, others: [], warnings: [], drafts: [] }),
    ...left.steps.flatMap(keptOtherwise),
  ];
  throw new Error(`The server has not kept everything:\n${lines.join("\n")}`);
}
