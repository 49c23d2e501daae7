import { statSync } from "node:fs";
import { commandOf } from "../account/audit/note";
import { askOnce, TEST_MESSAGE } from "../account/organization/test-model";
import type { Ports } from "../platform/ports/ports";
import COMMANDS from "./commands.json";
import { command, existingOrganization, newKeys } from "./command";
import { nearest } from "../platform/nearest";
import type { FailureKind } from "../platform/ports/text-model";
import { askTarget, listModels, targetOf } from "./connect/ask-target";
import { envChange } from "./connect/env-change";
import { storeForOrganization, storeInSettings } from "./connect/store";
import { AbortedError } from "./connect/questions";
import { explainPort, isPrivate, modelsAt, type Target } from "./connect/target";

const { usage: USAGE } = COMMANDS["cli/connect"];
const OPTIONS = ["provider", "url", "key", "model", "store", "organization"] as const;

const OPTIONAL = { throwIfNoEntry: false } as const;

/** Matches messages of servers that refuse a request without a key. */
const NEEDS_KEY = /\bkey\b|auth|credential|forbidden|token/i;

/** Connects a model: tests it with one request, then stores it for an organization or in `.env`. */
command(
  { usage: USAGE, options: OPTIONS },
  async (database, { store, organization, ...options }, { created, environment, settings }) => {
    if (store !== undefined && store !== "organization" && store !== "env")
      throw new Error(`--store must be organization or env; got "${store}".\nUsage: ${USAGE}`);
    if (options.provider !== undefined && options.url !== undefined)
      throw new Error(`Use either --provider or --url.\nUsage: ${USAGE}`);
    if (created) console.log(newKeys(created));
    const { ports } = database.scope("");
    const isOpen = options.provider === undefined && options.url === undefined;
    if (isOpen && !process.stdin.isTTY) throw new Error(`Name a provider or an address.\nUsage: ${USAGE}`);
    const prepare = async (target: Target) => {
      const change = (await goesToEnv(target, store)) ? envChange(target, environment, ".env") : undefined;
      await test(ports, target);
      return { target, change };
    };
    const { catalog, models } = ports;
    const { target, change } = isOpen
      ? await untilItAnswers(async () => prepare(await askTarget(options, catalog, models.credentials)))
      : await prepare(await targetOf(options, catalog, models.credentials));
    const organizationId = await existingOrganization(database, organization);
    const name = target.provider ?? target.baseUrl!;
    const operation = commandOf("connect", "ModelMapping", [{ name: change ? "env" : "organization" }]);
    operation.about(name);
    const scope = database.scope(organizationId).audited(operation);
    if (change) await storeInSettings(scope, change);
    else await storeForOrganization(scope, target);
    console.log(
      change
        ? `${change.advice}${change.isStored ? ownedByRoot(change.file, settings.DATA_DIR) : ""}`
        : `Stored for ${organization === undefined ? "the default organization" : `the organization ${organization}`}. A running server uses it from the next answer on.`,
    );
  },
);

/** Asks again after each failure, until the person gives up. @throws AbortedError */
async function untilItAnswers<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (error instanceof AbortedError) throw error;
      console.error(`${(error as Error).message}\n\nTry again, or press Ctrl+C to give up.`);
    }
}

/** A hint for a server that runs as another user than root, as the owner of its data shows. */
const ownedByRoot = (file: string, dataDir: string): string =>
  process.getuid?.() === 0 && statSync(file).uid === 0 && (statSync(dataDir, OPTIONAL)?.uid ?? 0) !== 0
    ? `\n${file} belongs to root. If the server runs as another user, make the file readable: chown USER '${file}'`
    : "";

/** Whether the target is stored in `.env`. @throws Error for a private address that is to be stored for an organization */
async function goesToEnv({ baseUrl }: Target, store: string | undefined): Promise<boolean> {
  if (baseUrl === undefined || !(await isPrivate(baseUrl))) return store === "env";
  if (store === "organization")
    throw new Error(
      `${baseUrl} is a private address, which only .env may name. Leave out --store organization.`,
    );
  return true;
}

/** Sends the test request. @throws Error with the reason, if the model does not answer */
async function test({ models }: Ports, { provider, baseUrl, apiKey, name, chosen }: Target): Promise<void> {
  const where = provider ?? baseUrl!;
  const address = baseUrl ?? models.credentials[provider!]?.baseUrl;
  const credential = {
    guarded: false,
    ...(apiKey !== undefined && { apiKey }),
    ...(address !== undefined && { baseUrl: address }),
  };
  const model = {
    id: "every identifier",
    channels: [],
    provider: where,
    model: name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(chosen && { namedBy: "--model" as const }),
  };
  console.log(`Asking ${name} at ${where} …`);
  const { text, error, kind, durationMs } = await askOnce(models.remote, { model, credential }, TEST_MESSAGE);
  const hint =
    apiKey === undefined && NEEDS_KEY.test(error ?? "") ? "\n  No key was given: use --key KEY." : "";
  if (error !== null) {
    const names = kind === "unknown_model" && address !== undefined ? await modelsAt(address, apiKey) : [];
    throw new Error(
      `${where} ${outcomeOf(kind)}; nothing was stored.\n  ${baseUrl === undefined ? error : explainPort(error, baseUrl)}${hint}${suggestion(name, names)}`,
    );
  }
  console.log(`It answered in ${durationMs} ms: ${text!.trim()}`);
}

/** What the server did, for a kind of failure. */
function outcomeOf(kind: FailureKind | undefined): string {
  if (kind === "unreachable" || kind === "timeout") return "did not answer";
  return kind === "unusable" ? "gave no usable answer" : "refused the request";
}

/** The models that the server lists, the most similar name first. */
function suggestion(name: string, models: readonly string[]): string {
  if (models.length === 0) return "";
  const best = nearest(name, models);
  return `\n  ${best === undefined ? "" : `Did you mean ${best}? `}Models there: ${listModels(models)}`;
}
