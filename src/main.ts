import "./start/production";
import { loadCatalog } from "./platform/catalog/load-catalog";
import { quoted } from "./platform/errors";
import { modelAccess } from "./platform/providers/model-access";
import { loadSettings } from "./platform/settings/load-settings";
import { checkOwnership } from "./platform/database/embedded/data-dir";
import { withSources } from "./platform/source-of";
import { tryAddress } from "./http/address";
import { exitCodeOf, mistake } from "./platform/mistake";

async function main(): Promise<void> {
  // A closed output, as after its terminal has closed, must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  refuseArguments(process.argv.slice(2));
  const { settings } = loadSettings();
  // Invalid models and an address in use are reported before the database is touched: keys created by a failed first
  // start would never be shown.
  modelAccess(settings, loadCatalog(settings.CATALOG_FILE));
  await tryAddress(settings);
  await checkOwnership(settings.DATA_DIR);
  const { serve } = await import("./start/serve.js"); // most of the program, not needed to refuse a setting
  await serve(settings, onSignal);
}

function refuseArguments([first]: readonly string[]): void {
  if (first !== undefined)
    throw mistake(
      new Error(
        `The server takes no arguments; got ${quoted(first)}. Its settings come from the environment and from .env: see docs/settings.md.`,
      ),
    );
}

function onSignal(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void stop().then(
        () => {
          console.log("Parley has stopped.");
          process.exit(0);
        },
        (error: unknown) => fail(error),
      );
    });
}

function fail(error: unknown): void {
  const { message, stack } = error as Error;
  console.error(process.env.LOG_LEVEL === "debug" ? withSources(stack ?? message) : message);
  process.exit(exitCodeOf(error));
}

main().catch(fail);
