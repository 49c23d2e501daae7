import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { inFolderOfCaller } from "./folder-of-caller";
import { completeExport, exportOrganization, organizationOf } from "./folder/export-organization";
import { FolderWriter } from "./folder/folder-writer";
import { NEVER_SHOWN, REPORT, type Gap, type Manifest } from "./folder/format";
import { KEY_ADVICE, Server, UnreadableError } from "./folder/server";
import { DeniedError, Http } from "./import/http";
import { Progress } from "./import/progress";
import { outliveReaders } from "./lasting-output";
import { quotedForShell } from "./quoted-for-shell";
import { commandWith, givenBy, serverAddress, waitOf, withContinuation } from "./transfer-options";

const { usage: USAGE } = COMMANDS["cli/export"];
const OPTIONS = ["url", "key", "wait"] as const;
type Options = Readonly<Partial<Record<(typeof OPTIONS)[number], string>>>;

/** Exit code if the key could not read everything. */
const INCOMPLETE = 2;
/** Ids that a line of the printed report names; the file has all. */
const SHOWN_IDS = 3;

/** Exports an organization of a running server into a folder. */
run().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error((error as Error).message);
    process.exitCode = 1;
  },
);

async function run(): Promise<number> {
  outliveReaders();
  const { values, positionals } = parseArguments(USAGE, {
    options: Object.fromEntries(OPTIONS.map((name) => [name, { type: "string" }] as const)),
    allowPositionals: true,
  });
  const options = values as Options;
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw wrong("Name one folder.");
  inFolderOfCaller();
  const progress = new Progress();
  try {
    return await exportTo(folder, options, progress);
  } catch (error) {
    const kept = FolderWriter.hasBegun(folder) ? "What was exported stays." : undefined;
    const words = ["npm run --silent export --", quotedForShell(folder)];
    const given = Object.fromEntries(OPTIONS.map((name) => [name, options[name]]));
    throw withContinuation(error, kept, commandWith(words, given));
  } finally {
    progress.end();
  }
}

async function exportTo(folder: string, options: Options, progress: Progress): Promise<number> {
  const [url, key] = [givenBy(options.url, "PARLEY_URL"), givenBy(options.key, "PARLEY_KEY")];
  if (url === undefined)
    throw wrong("Name the server with --url or PARLEY_URL, such as http://127.0.0.1:4000.");
  if (key === undefined) throw wrong(KEY_ADVICE);
  const source = serverAddress(options.url, url, USAGE);
  const http = (headers: Record<string, string>) =>
    new Http({
      name: "The server",
      headers,
      patienceMs: waitOf(options.wait, USAGE) * 1_000,
      say: progress.say,
    });
  const server = new Server(http({ "X-API-Key": key }), http({}), source);
  const organization = await organizationOf(server).catch((error: unknown) => {
    throw error instanceof UnreadableError
      ? new DeniedError(`The organization cannot be read: ${error.message} ${KEY_ADVICE}`)
      : error;
  });
  const writer = FolderWriter.open(folder, source, organization.id as string); // an ID of GraphQL
  const work = { server, writer, progress: progress.show };
  await exportOrganization(work, key);
  progress.show("Digests");
  const manifest = await completeExport(work);
  progress.end();
  for (const line of summaryOf(folder, manifest, writer.gaps)) console.log(line);
  return manifest.complete ? 0 : INCOMPLETE;
}

function summaryOf(folder: string, { files, organizationId }: Manifest, gaps: readonly Gap[]): string[] {
  const counts = Object.entries(files).flatMap(([name, { records }]) =>
    name === REPORT ? [] : [`  ${name}: ${records}`],
  );
  const missing = gaps.map(({ reason, ids }) => `  - ${reason}${idsIn(ids)}`);
  return [
    `Exported the organization ${organizationId} to ${folder}:`,
    ...counts,
    ...(missing.length > 0 ? ["", "Not read:", ...missing, OTHER_KEY] : []),
    ...["", "Never shown, so not in the folder:", ...NEVER_SHOWN.map((sentence) => `  - ${sentence}`)],
    "",
    "The folder contains secrets: values of keys, and secrets of functions and webhook destinations. Only you can read its files; keep it so.",
  ];
}

const OTHER_KEY =
  "What this key may not read, a SECRET key without limits does: `npm run --silent key:create` makes one on the server. Export with it into a new folder.";

const idsIn = (ids: readonly string[]): string =>
  ids.length === 0 ? "" : ` [${ids.slice(0, SHOWN_IDS).join(", ")}${ids.length > SHOWN_IDS ? ", …" : ""}]`;

function wrong(message: string): Error {
  return new Error(`${message}\nUsage: ${USAGE}`);
}
