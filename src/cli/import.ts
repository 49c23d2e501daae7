import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { inFolderOfCaller } from "./folder-of-caller";
import { importFolder } from "./folder/import-folder";
import { Http } from "./import/http";
import { Progress } from "./import/progress";
import { checkReport, Report } from "./import/report";
import { importRest } from "./import/rest";
import { importRetell } from "./import/retell";
import { Source } from "./import/source";
import { Target } from "./import/target";
import { importVapi } from "./import/vapi";
import { outliveReaders } from "./lasting-output";
import { quotedForShell } from "./quoted-for-shell";
import { addressOf, commandWith, givenBy, serverAddress, waitOf, withContinuation } from "./transfer-options";

const { usage: USAGE } = COMMANDS["cli/import"];
const OPTIONS = ["from", "from-key", "url", "key", "wait", "report"] as const;
type Options = Readonly<Partial<Record<(typeof OPTIONS)[number], string>>>;

const SOURCES = ["rest", "parley", "vapi", "retell"] as const;
type SourceName = (typeof SOURCES)[number];
const isSource = (text: string | undefined): text is SourceName => SOURCES.some((one) => one === text);
const OR = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Exit code if records were not imported that the source gave. */
const INCOMPLETE = 2;

/** Printed at the end of an import. */
const DELETE_KEY =
  "After the last run, delete the key with which this server was reached: it can store API keys without limits. See docs/import.md.";

/** Imports records of another service into a running server. */
run().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});

async function run(): Promise<void> {
  outliveReaders();
  const { values, positionals } = parseArguments(USAGE, {
    options: Object.fromEntries(OPTIONS.map((name) => [name, { type: "string" }] as const)),
    allowPositionals: true,
  });
  const options = values as Options;
  const [kind, file, ...others] = positionals;
  if (!isSource(kind))
    throw wrong(kind === undefined ? `Name a source: ${OR.format(SOURCES)}.` : `Unknown source "${kind}".`);
  if (others.length > 0) throw wrong(`Unexpected argument "${others[0]}".`);
  inFolderOfCaller();
  if (options.report !== undefined) checkReport(options.report);
  const report = new Report(kind === "parley");
  const progress = new Progress();
  let isDone = false;
  try {
    await importFrom(kind, file, options, report, progress);
    isDone = true;
  } catch (error) {
    const kept = report.hasRecords ? "What was imported stays." : undefined;
    throw withContinuation(error, kept, sameCommand(kind, file, options));
  } finally {
    progress.end();
    if (isDone || !report.isEmpty) {
      if (isDone || report.hasRecords) for (const line of report.lines()) console.log(line);
      if (isDone) console.log(`\n${DELETE_KEY}`);
      if (options.report !== undefined) report.write(options.report);
    }
  }
  if (!report.isIncomplete) return;
  console.error(
    "\nSome records were not imported; they are listed above. Import again once the cause is gone.",
  );
  process.exitCode = INCOMPLETE;
}

async function importFrom(
  kind: SourceName,
  file: string | undefined,
  options: Options,
  report: Report,
  { show: progress, say }: Progress,
): Promise<void> {
  const http = (name: string, headers: Record<string, string>) =>
    new Http({ name, headers, patienceMs: waitOf(options.wait, USAGE) * 1_000, say });
  const { url, from, key } = accessOf(options, kind === "rest" || (kind !== "parley" && file === undefined));
  const isOfVendor = kind === "vapi" || kind === "retell"; // whose fields have other names
  const notes = isOfVendor ? report.of("Parley") : report;
  const target = new Target(http("The target", { "X-API-Key": key }), url, notes);
  const sourceAt = (address: string, headers: Record<string, string>) =>
    new Source(http("The source", headers), addressOf("--from", address, USAGE));
  if (kind === "rest") {
    if (file !== undefined) throw wrong(`Unexpected argument "${file}".`);
    if (options.from === undefined || from === undefined)
      throw wrong("Name the source with --from URL, and its SECRET key with --from-key or PARLEY_FROM_KEY.");
    const source = sourceAt(options.from, { "X-API-Key": from });
    return importRest({ source, target, report, progress, open: http("The source", {}) });
  }
  if (kind === "parley") {
    if (file === undefined) throw wrong("Name the folder of an export.");
    return importFolder({ folder: file, target, report, progress });
  }
  if (file === undefined ? from === undefined : options["from-key"] !== undefined)
    throw wrong("Name either a file, or a key with --from-key or PARLEY_FROM_KEY.");
  const [work, address] =
    kind === "vapi" ? [importVapi, "https://api.vapi.ai"] : [importRetell, "https://api.retellai.com"];
  const source = () => sourceAt(options.from ?? address, { Authorization: `Bearer ${from!}` });
  return work({ target, report, progress, ...(file === undefined ? { source: source() } : { file }) });
}

function wrong(message: string): Error {
  return new Error(`${message}\nUsage: ${USAGE}`);
}

/** Address of the target, and both keys. @param needsSource whether records come from a service */
function accessOf(options: Options, needsSource: boolean) {
  const given = givenBy(options["from-key"], "PARLEY_FROM_KEY");
  const { PARLEY_KEY: own } = process.env;
  // Beside PARLEY_KEY, which is of the target, --key is of the source if nothing else is.
  const isOfSource = needsSource && given === undefined && own;
  const from = isOfSource ? options.key || undefined : given;
  const url = givenBy(options.url, "PARLEY_URL");
  const key = isOfSource ? own : givenBy(options.key, "PARLEY_KEY");
  if (url === undefined)
    throw wrong("Name this server with --url or PARLEY_URL, such as http://127.0.0.1:4000.");
  if (key === undefined)
    throw wrong(
      "Name a SECRET key that may import with --key or PARLEY_KEY: `npm run --silent key:create -- --import` makes one on the server.",
    );
  return { url: serverAddress(options.url, url, USAGE), from, key };
}

/** The command of this run, which continues it. */
const sameCommand = (kind: SourceName, file: string | undefined, options: Options): string =>
  commandWith(
    ["npm run --silent import --", ...[kind, file].flatMap((word) => word ?? []).map(quotedForShell)],
    Object.fromEntries(OPTIONS.map((name) => [name, options[name]])),
  );
