import { lookup } from "node:dns/promises";
import type { Catalog, ModelEntry } from "../../platform/catalog/load-catalog";
import { AddressRules } from "../../platform/outbound/addresses";

/** The server that is to answer: a provider of the catalog, or an OpenAI-compatible address. */
export interface Target {
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The server's own name of the model. */
  readonly name: string;
  /** Whether the name was chosen, so that it answers for every identifier, or is the usual one of the provider. */
  readonly chosen: boolean;
}

/** Identifier whose model answers for other providers' identifiers, if it is not the provider's first one. */
const USUAL: Readonly<Record<string, string>> = { ANTHROPIC: "CLAUDE_3_5_SONNET" };
const ONLY_PUBLIC = new AddressRules([]);
const OLLAMA_PORT = "11434";
const PROBE_TIMEOUT_MS = 1_000;
const LIST_TIMEOUT_MS = 10_000;

/** The usual model of a provider; undefined if the catalog has none. */
export const usualModel = (catalog: Catalog, provider: string): ModelEntry | undefined =>
  catalog.models.find(({ id }) => id === USUAL[provider]) ??
  catalog.models.find((model) => model.provider === provider);

/** Base URL of OpenAI's protocol for an address as people give it. @throws Error if it is not a URL */
export function baseUrlOf(given: string): string {
  const text = given.trim().replace(/^(["'])(.*)\1$/, "$2"); // pasted with quotes
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address))
    throw new Error(`"${text}" is not an address, such as http://127.0.0.1:8000/v1.`);
  const url = new URL(address);
  if (url.username !== "" || url.password !== "")
    throw new Error("The address must not contain a user or password. Give the key separately.");
  const segments = url.pathname
    .replace(/\/chat\/completions\/?$/, "")
    .split("/")
    .filter(Boolean);
  url.pathname = segments.length > 0 ? segments.join("/") : "v1";
  return url.toString();
}

/** Whether an address is not public, so that an organization may not set it. */
export async function isPrivate(baseUrl: string): Promise<boolean> {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "");
  const addresses = await lookup(host, { all: true, verbatim: true }).catch(() => []);
  return addresses.some(({ address }) => !ONLY_PUBLIC.permits(address, host));
}

/**
 * Names of the models at a server with OpenAI's protocol; none if it does not list them.
 * @throws Error if the server refuses the key, or its absence
 */
export async function modelsAt(
  baseUrl: string,
  apiKey?: string,
  timeoutMs = LIST_TIMEOUT_MS,
): Promise<string[]> {
  const request = fetch(`${baseUrl}/models`, {
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer = await request.catch(() => undefined);
  if (answer?.status === 401 || answer?.status === 403)
    throw new Error(
      `${baseUrl} does not list its models (${answer.status}): ${apiKey === undefined ? "it needs a key, which --key KEY gives" : "it refused the key"}.`,
    );
  const { data } = ((await answer?.json().catch(() => undefined)) ?? {}) as { data?: { id?: unknown }[] };
  return Array.isArray(data) ? data.flatMap((one) => (typeof one?.id === "string" ? [one.id] : [])) : [];
}

/** @throws Error with the reason, if nothing answers at an address */
export async function refuseUnreachable(baseUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  try {
    const answer = await fetch(`${baseUrl}/models`, { redirect: "manual", signal });
    await answer.body?.cancel();
  } catch (error) {
    if (signal.aborted) throw new Error(`${baseUrl} did not answer within ${LIST_TIMEOUT_MS / 1_000} s.`);
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    if (code === "ECONNREFUSED")
      throw new Error(
        `${baseUrl} refused the connection: check the address and the port, and that the server runs.`,
      );
    throw new Error(`${baseUrl} cannot be reached: ${explainPort(message, baseUrl)}`);
  }
}

/** An error of a request; with a remedy, if its port is one that programs may not send HTTP requests to. */
export const explainPort = (message: string, baseUrl: string): string =>
  message.endsWith("bad port")
    ? `Node sends no HTTP requests to port ${new URL(baseUrl).port}, which the Fetch standard reserves for other protocols. Let the server listen on another port.`
    : message;

/** Address of Ollama on this computer: its usual port, or where its own variable OLLAMA_HOST says. */
function ollamaAddress(): string {
  const own = process.env.OLLAMA_HOST?.trim() ?? "";
  const text = /^https?:\/\//.test(own) ? own : `http://${own || "127.0.0.1"}`;
  if (!URL.canParse(text)) return `http://127.0.0.1:${OLLAMA_PORT}`;
  const url = new URL(text);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"; // a server listens there, and nobody connects there
  return `${url.protocol}//${url.hostname}:${url.port || OLLAMA_PORT}`;
}

/** Base URL and models of Ollama on this computer; undefined if it does not run. @param address another place to look */
export async function findOllama(
  address = ollamaAddress(),
): Promise<{ readonly baseUrl: string; readonly models: readonly string[] } | undefined> {
  const baseUrl = `${address}/v1`;
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const answer = await fetch(`${address}/api/version`, { signal, redirect: "error" });
    const { version } = (await answer.json()) as { version?: unknown };
    if (typeof version !== "string") return undefined;
  } catch {
    return undefined;
  }
  return { baseUrl, models: await modelsAt(baseUrl).catch(() => []) };
}
