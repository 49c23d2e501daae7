import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { inFolderOfCaller } from "./folder-of-caller";
import { completeExport, exportOrganization, organizationOf } from "./folder/export-organization";
import { FolderWriter } from "./folder/folder-writer";
import { NEVER_SHOWN, REPORT, type Gap, type Manifest } from "./folder/format";
import { Server, UnreadableError } from "./folder/server";
import { Http, ImportStoppedError } from "./import/http";
import { Progress } from "./import/progress";
import { quotedForShell } from "./quoted-for-shell";
import { addressOf, waitOf } from "./transfer-options";

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
    if (!(error instanceof ImportStoppedError)) throw error;
    throw new Error(`${error.message}\n\n${resumeWith(folder, options)}`, { cause: error });
  } finally {
    progress.end();
  }
}

async function exportTo(folder: string, options: Options, progress: Progress): Promise<number> {
  const { url = process.env.PARLEY_URL, key = process.env.PARLEY_KEY } = options;
  if (!url || !key)
    throw wrong(
      "Name the server with --url or PARLEY_URL, and with --key or PARLEY_KEY a SECRET key without limits.",
    );
  const source = addressOf("--url", url, USAGE);
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
      ? new Error(`The organization cannot be read: ${error.message} Use a SECRET key.`)
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
    ...(missing.length > 0 ? ["", "Not read:", ...missing] : []),
    ...["", "Never shown, so not in the folder:", ...NEVER_SHOWN.map((sentence) => `  - ${sentence}`)],
    "",
    "The folder contains secrets: values of keys, and secrets of functions and webhook destinations. Only you can read its files; keep it so.",
  ];
}

const idsIn = (ids: readonly string[]): string =>
  ids.length === 0 ? "" : ` [${ids.slice(0, SHOWN_IDS).join(", ")}${ids.length > SHOWN_IDS ? ", …" : ""}]`;

function wrong(message: string): Error {
  return new Error(`${message}\nUsage: ${USAGE}`);
}

/** The command that continues the export, without the key. */
function resumeWith(folder: string, options: Options): string {
  const given = OPTIONS.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name} ${name === "key" ? "KEY" : quotedForShell(value)}`];
  });
  const words = ["npm run --silent export --", quotedForShell(folder), ...given];
  return `What was exported stays. To continue, run the same command again:\n  ${words.join(" ")}`;
}
