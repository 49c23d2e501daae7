import type { ServerResponse } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { guess, ignoredNames, someOf } from "../src/http/graphql/ignored-names";
import type { JsonObject } from "../src/platform/json/json-object";
import type { CompiledRoute } from "./compile";

/** The service changes these fields itself, so a client that sends back what it read means no change. */
const CHANGES_BY_ITSELF: readonly string[] = ["updatedAt"];

/** One warning for each query parameter that the path does not have; it is ignored. */
export function unknownParameters({ operation }: CompiledRoute, query: URLSearchParams): string[] {
  const known = operation?.variables.flatMap(({ name, from }) => (from === "query" ? [name] : [])) ?? [];
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  return ignored("query parameter", unknown, known);
}

/** One warning for each field that a body cannot have; it is ignored with REST_UNKNOWN_FIELDS=ignore. */
export function unknownFields({ operation, setters, hints }: CompiledRoute, body: unknown): string[] {
  if (!operation || !isJsonObject(body)) return [];
  const { bodyFields, readOnly } = operation;
  const unknown = Object.keys(body).filter((name) => !bodyFields.includes(name) && !readOnly.has(name));
  return ignored("field", unknown, bodyFields, { setters, hints });
}

/** One warning for each field of a body on a path that takes no body. @param body undefined if it is not JSON */
export function fieldsOfUnusedBody(body: unknown): string[] {
  if (!isJsonObject(body)) return ["The body was ignored: this path takes none."];
  const sentence = (name: string) => `The field ${name} was ignored: this path takes no body.`;
  return someOf(Object.keys(body), sentence, "fields were ignored");
}

/** One warning for each read-only field that a body has with another value than the response. */
export function readOnlyFields({ operation }: CompiledRoute, body: unknown, response: unknown): string[] {
  if (!operation || !isJsonObject(body) || !isJsonObject(response)) return [];
  return [...operation.readOnly]
    .filter(([name]) => Object.hasOwn(body, name) && !CHANGES_BY_ITSELF.includes(name))
    .filter(([name]) => !isDeepStrictEqual(body[name], toJson(response[name])))
    .map(([name, advice]) => `The field ${name} is read-only here and was ignored: ${advice}.`);
}

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value of a response as its reader sees it: a date as text. */
const toJson = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

function ignored(
  kind: string,
  unknown: readonly string[],
  known: readonly string[],
  { setters, hints = {} }: Pick<CompiledRoute, "setters" | "hints"> = {},
): string[] {
  return ignoredNames(kind, unknown, (name) => {
    const setter = setters?.get(name);
    const hint = Object.hasOwn(hints, name) ? hints[name]! : undefined;
    if (hint !== undefined) return `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
    return setter === undefined ? guess(name, known, "This path") : `Set it with ${setter}.`;
  });
}

/** Proxies and clients refuse a response whose headers are long: nginx those of 4 to 8 KiB, `fetch` of Node.js 16 KiB. */
const MAX_LENGTH = 4_000;

/**
 * Adds warnings to a response, as far as they fit into its headers. A header is ASCII: other letters are percent-encoded,
 * other characters become `?`.
 */
export function warn(res: ServerResponse, warnings: readonly string[]): void {
  for (const text of warnings) {
    const room = MAX_LENGTH - [res.getHeader("Warning") ?? []].flat().join("").length;
    if (room > 0) res.appendHeader("Warning", `299 parley "${quoted(text, room)}"`);
  }
}

/** A text inside quotes, cut to a length. */
function quoted(text: string, room: number): string {
  let result = "";
  for (const character of text) {
    const next =
      result + (/[\x20-\x7e]/.test(character) ? character.replace(/["\\]/, "\\$&") : inAscii(character));
    if (next.length > room) return `${result}...`;
    result = next;
  }
  return result;
}

const inAscii = (character: string): string =>
  /[\p{L}\p{M}\p{N}]/u.test(character) ? encodeURIComponent(character) : "?";
