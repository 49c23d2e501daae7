import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { inFolderOfCaller } from "./folder-of-caller";
import { importFolder } from "./folder/import-folder";
import { Http, ImportStoppedError } from "./import/http";
import { Progress } from "./import/progress";
import { Report } from "./import/report";
import { importRest } from "./import/rest";
import { importRetell } from "./import/retell";
import { Source } from "./import/source";
import { Target } from "./import/target";
import { importVapi } from "./import/vapi";
import { quotedForShell } from "./quoted-for-shell";
import { addressOf, waitOf } from "./transfer-options";

const { usage: USAGE } = COMMANDS["cli/import"];
const OPTIONS = ["from", "from-key", "url", "key", "wait", "report"] as const;
type Options = Readonly<Partial<Record<(typeof OPTIONS)[number], string>>>;

/** Exit code if records were not imported that the source gave. */
const INCOMPLETE = 2;

/** Imports records of another service into a running server. */
run().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});

async function run(): Promise<void> {
  const { values, positionals } = parseArguments(USAGE, {
    options: Object.fromEntries(OPTIONS.map((name) => [name, { type: "string" }] as const)),
    allowPositionals: true,
  });
  const options = values as Options;
  const [kind, file, ...others] = positionals;
  if (others.length > 0) throw wrong(`Unexpected argument "${others[0]}".`);
  const report = new Report(kind === "parley");
  const progress = new Progress();
  let isDone = false;
  try {
    await importFrom(kind, file, options, report, progress);
    isDone = true;
  } catch (error) {
    if (!(error instanceof ImportStoppedError)) throw error;
    throw new Error(`${error.message}\n\n${resumeWith(kind, file, options)}`);
  } finally {
    progress.end();
    if (isDone || !report.isEmpty) {
      for (const line of report.lines()) console.log(line);
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
  kind: string | undefined,
  file: string | undefined,
  options: Options,
  report: Report,
  { show: progress, say }: Progress,
): Promise<void> {
  const http = (name: string, headers: Record<string, string>) =>
    new Http({ name, headers, patienceMs: waitOf(options.wait, USAGE) * 1_000, say });
  const from = options["from-key"] ?? process.env.PARLEY_FROM_KEY;
  const { url, key } = targetOf(options);
  const target = new Target(http("The target", { "X-API-Key": key }), url, report);
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
    inFolderOfCaller();
    return importFolder({ folder: file, target, report, progress });
  }
  if (kind !== "vapi" && kind !== "retell")
    throw wrong(
      kind === undefined ? "Name a source: rest, parley, vapi or retell." : `Unknown source "${kind}".`,
    );
  if ((file === undefined) === (from === undefined))
    throw wrong("Name either a file, or a key with --from-key or PARLEY_FROM_KEY.");
  const [work, address] =
    kind === "vapi" ? [importVapi, "https://api.vapi.ai"] : [importRetell, "https://api.retellai.com"];
  const source =
    from === undefined ? undefined : sourceAt(options.from ?? address, { Authorization: `Bearer ${from}` });
  return work({ target, report, progress, ...(source ? { source } : { file: file! }) });
}

function wrong(message: string): Error {
  return new Error(`${message}\nUsage: ${USAGE}`);
}

function targetOf({ url = process.env.PARLEY_URL, key = process.env.PARLEY_KEY }: Options) {
  if (url === undefined || key === undefined)
    throw wrong(
      "Name this server with --url or PARLEY_URL, and with --key or PARLEY_KEY a key that `npm run --silent key:create -- --import` has made.",
    );
  return { url: addressOf("--url", url, USAGE), key };
}

/** The command that continues the import, without keys. */
function resumeWith(kind: string | undefined, file: string | undefined, options: Options): string {
  const given = OPTIONS.flatMap((name) => {
    const value = options[name];
    if (value === undefined) return [];
    return [`--${name} ${name.endsWith("key") ? "KEY" : quotedForShell(value)}`];
  });
  const words = [
    "npm run --silent import --",
    kind,
    ...(file === undefined ? [] : [quotedForShell(file)]),
    ...given,
  ];
  return `What was imported stays. To continue, run the same command again:\n  ${words.join(" ")}`;
}
