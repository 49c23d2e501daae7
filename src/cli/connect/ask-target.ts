import type { Catalog } from "../../platform/catalog/load-catalog";
import type { Models } from "../../platform/ports/ports";
import { prefixOf } from "../../platform/providers/model-access";
import { Questions } from "./questions";
import { baseUrlOf, findOllama, modelsAt, refuseUnreachable, usualModel, type Target } from "./target";

/** Options of the command. */
export interface Options {
  readonly provider?: string | undefined;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
}

type Known = Models["credentials"];
const MAX_LISTED = 20;

/** The target that the options name. @throws Error if the options leave something open */
export async function targetOf(options: Options, catalog: Catalog, known: Known): Promise<Target> {
  const { url, key, model } = options;
  if (url !== undefined) {
    const baseUrl = baseUrlOf(url);
    if (model === undefined) await refuseUnreachable(baseUrl);
    const name = model ?? onlyOne(baseUrl, await modelsAt(baseUrl, key));
    return { baseUrl, name, chosen: true, ...(key !== undefined && { apiKey: key }) };
  }
  const provider = providerNamed(options.provider!, catalog);
  const apiKey = key ?? known[provider]?.apiKey;
  if (apiKey === undefined)
    throw new Error(`${provider} needs a key: add --key KEY, or set ${prefixOf(provider)}_API_KEY.`);
  return { provider, apiKey, ...modelOf(provider, catalog, model) };
}

/** Asks a person for the target. */
export async function askTarget(options: Options, catalog: Catalog, known: Known): Promise<Target> {
  const questions = new Questions();
  try {
    const ollama = await findOllama();
    const providers = catalog.providers.map(({ id }) => id);
    const choices = [
      ...(ollama
        ? [`Ollama on this computer (${ollama.models.slice(0, 3).join(", ") || "no model yet"})`]
        : []),
      ...providers,
      "Another OpenAI-compatible address (Ollama, vLLM, OpenRouter, …)",
    ];
    const chosen = await questions.choose("Which model answers?", choices);
    if (typeof chosen === "string") return await askKeyAndModel(questions, baseUrlOf(chosen), options.model);
    const choice = chosen - (ollama ? 1 : 0);
    if (choice < 0) return await askAddress(questions, ollama!.baseUrl, "", options.model);
    const provider = providers[choice];
    if (provider === undefined) {
      const address = await questions.ask("Address", "http://127.0.0.1:11434/v1");
      return await askKeyAndModel(questions, baseUrlOf(address), options.model);
    }
    const typed = await questions.askSecret(
      `Key of ${provider}${known[provider]?.apiKey ? " (empty: the one in the settings)" : ""}`,
    );
    return await targetOf({ provider, key: typed || undefined, model: options.model }, catalog, known);
  } finally {
    questions.close();
  }
}

async function askKeyAndModel(questions: Questions, baseUrl: string, model?: string): Promise<Target> {
  await refuseUnreachable(baseUrl);
  return askAddress(questions, baseUrl, await questions.askSecret("Key (empty if none)"), model);
}

async function askAddress(
  questions: Questions,
  baseUrl: string,
  key: string,
  given?: string,
): Promise<Target> {
  const apiKey = key || undefined;
  const models = await modelsAt(baseUrl, apiKey);
  if (models.length > 1) console.log(`Models there: ${listModels(models)}`);
  const name = given ?? (await questions.ask("Model", models[0] ?? ""));
  if (name === "") throw new Error(noModel(baseUrl));
  return { baseUrl, name, chosen: true, ...(apiKey !== undefined && { apiKey }) };
}

/** Names of models, at most the first 20. */
export const listModels = (models: readonly string[]): string =>
  models.slice(0, MAX_LISTED).join(", ") +
  (models.length > MAX_LISTED ? ` and ${models.length - MAX_LISTED} more` : "");

const noModel = (baseUrl: string): string =>
  `${baseUrl} lists no models: check the address and that the server runs, and load a model (Ollama: \`ollama pull llama3.2\`) or name one with --model.`;

function onlyOne(baseUrl: string, models: readonly string[]): string {
  if (models.length === 0) throw new Error(noModel(baseUrl));
  if (models.length > 1) throw new Error(`Name one of the models with --model: ${listModels(models)}.`);
  return models[0]!;
}

function providerNamed(text: string, { providers }: Catalog): string {
  const found = providers.find(({ id }) => id.toLowerCase() === text.toLowerCase());
  if (!found)
    throw new Error(
      `--provider must be one of ${providers.map(({ id }) => id.toLowerCase()).join(", ")}; got "${text}". For another server, use --url.`,
    );
  return found.id;
}

function modelOf(provider: string, catalog: Catalog, model: string | undefined) {
  const name = model ?? usualModel(catalog, provider)?.model;
  if (name === undefined) throw new Error(`Name a model of ${provider} with --model.`);
  return { name, chosen: model !== undefined };
}
