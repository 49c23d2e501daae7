import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { nearest } from "../../platform/nearest";
import { isNested, readEach, type DeclaredFunction } from "../configurations/functions";
import type { Warn } from "./warnings";

/** Warns about functions that a model is never offered, and about those whose calls reach no server. */
export async function checkFunctions(
  scope: Scope,
  functions: readonly JsonObject[],
  warn: Warn,
): Promise<void> {
  const read = await Promise.all(readEach(functions).map((one) => usable(scope, one)));
  for (const [index, item] of functions.entries()) {
    const one = read[index]!;
    const path = `functions.${index}`;
    if (typeof one === "string") {
      warn(path, "FUNCTION_NOT_UNDERSTOOD", one);
      continue;
    }
    const problem = serverProblem(scope, item, one);
    if (problem !== undefined)
      warn(path, "FUNCTION_WITHOUT_SERVER", `The function ${one.name} cannot be called: ${problem}`);
  }
}

/** A function, or a sentence why it is never offered to a model, such as for its parameters. */
async function usable({ organizationId, ports }: Scope, read: DeclaredFunction | string) {
  if (typeof read === "string") return read;
  const problem = await ports.checker.problemOf(organizationId, read.parameters);
  return problem === undefined
    ? read
    : `The function has parameters that ${problem}; it is never offered to a model.`;
}

/** A character that no value of an HTTP header can have. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Why calls of a function reach no server; undefined if they may reach one. */
function serverProblem(
  { ports }: Scope,
  item: JsonObject,
  { serverUrl, secretKey }: DeclaredFunction,
): string | undefined {
  const nested = isNested(item);
  const field = nested ? "server.url" : "serverUrl";
  if (serverUrl === undefined) {
    const given = nested ? (item.server as JsonObject | undefined)?.url : item.serverUrl;
    if (given !== undefined && given !== null && given !== "") return `its ${field} is not a text.`;
    const meant = misspelled(item, nested);
    return meant === undefined
      ? `it has no ${field}.`
      : `it has ${meant}, but no ${field}. Did you mean ${field}?`;
  }
  const refusal = ports.outbound.refusalOf(serverUrl);
  if (refusal) return `its ${field} ${refusal}.`;
  if (secretKey === undefined || !UNSENDABLE.test(secretKey)) return undefined;
  return `its ${nested ? "server.secret" : "secretKey"} has a line break or another character that no header can have.`;
}

/** Names that clients give the address of a server. */
const ALIASES = ["url", "uri", "href", "endpoint", "webhook", "webhookUrl", "server_url", "serverUri"];
/** Keys with another meaning. */
const KNOWN = ["name", "description", "parameters", "secretKey", "secret", "type", "function"];

/** The key that was probably meant as the address of the server. */
function misspelled(item: JsonObject, nested: boolean): string | undefined {
  const within = (value: unknown, prefix: string) =>
    Object.entries(typeof value === "object" && value !== null ? value : {})
      .filter(([key, one]) => typeof one === "string" && one !== "" && !KNOWN.includes(key))
      .map(([key]) => ({ key, path: `${prefix}${key}` }));
  const keys = [
    ...(typeof item.server === "string" ? [{ key: "server", path: "server" }] : []),
    ...within(item, ""),
    ...within(item.server, "server."),
    ...(nested ? within(item.function, "function.") : []),
  ];
  return keys.find(({ key }) => key === "server" || nearest(key, ["serverUrl", ...ALIASES]))?.path;
}
