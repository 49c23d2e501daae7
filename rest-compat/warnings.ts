import type { ServerResponse } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../src/platform/json/json-object";
import { nearest } from "../src/platform/nearest";
import type { CompiledRoute } from "./compile";

/** Unknown names of each kind that one response mentions, and characters of each name. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 60;
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
  const names = Object.keys(body);
  const named = names.slice(0, MAX_NAMED).map((name) => {
    return `The field ${name.slice(0, MAX_NAME_LENGTH)} was ignored: this path takes no body.`;
  });
  return [...named, ...moreThan(named, names, "fields were ignored")];
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
  const named = unknown.slice(0, MAX_NAMED).map((name) => {
    const setter = setters?.get(name);
    const hint = Object.hasOwn(hints, name) ? hints[name]! : undefined;
    const meant = nearest(name, known);
    const taken = known.length === 0 ? "This path takes none" : `This path takes ${known.join(", ")}`;
    const guess = meant === undefined ? `${taken}.` : `Did you mean ${meant}?`;
    const other = setter === undefined ? guess : `Set it with ${setter}.`;
    const advice = hint === undefined ? other : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
    return `The ${kind} ${name.slice(0, MAX_NAME_LENGTH)} is unknown and was ignored. ${advice}`;
  });
  return [...named, ...moreThan(named, unknown, `${kind}s are unknown and were ignored`)];
}

/** Counts the names that are not named; nothing if all are. */
function moreThan(named: readonly string[], all: readonly string[], text: string): string[] {
  const more = all.length - named.length;
  return more > 0 ? [`${more} more ${text}.`] : [];
}

/** Adds warnings to a response. A header is ASCII: other letters are percent-encoded, other characters become `?`. */
export function warn(res: ServerResponse, warnings: readonly string[]): void {
  for (const text of warnings) {
    const quoted = text.replaceAll(/[^\x20-\x7e]/gu, inAscii).replaceAll(/["\\]/g, "\\$&");
    res.appendHeader("Warning", `299 parley "${quoted}"`);
  }
}

const inAscii = (character: string): string =>
  /[\p{L}\p{M}\p{N}]/u.test(character) ? encodeURIComponent(character) : "?";
