import type { ServerResponse } from "node:http";
import { nearest } from "../src/platform/nearest";
import type { CompiledRoute } from "./compile";

/** Unknown parameters that one response names, and characters of each name. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 60;

/** One warning for each query parameter that the path does not have; it is ignored. */
export function unknownParameters({ operation }: CompiledRoute, query: URLSearchParams): string[] {
  const known = operation?.variables.flatMap(({ name, from }) => (from === "query" ? [name] : [])) ?? [];
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  const named = unknown.slice(0, MAX_NAMED).map((name) => {
    const meant = nearest(name, known);
    const taken = known.length === 0 ? "This path takes none" : `This path takes ${known.join(", ")}`;
    const advice = meant === undefined ? `${taken}.` : `Did you mean ${meant}?`;
    return `The query parameter ${name.slice(0, MAX_NAME_LENGTH)} is unknown and was ignored. ${advice}`;
  });
  const more = unknown.length - named.length;
  return more > 0 ? [...named, `${more} more query parameters are unknown and were ignored.`] : named;
}

/** Adds warnings to a response. Characters that a header cannot contain become `?`. */
export function warn(res: ServerResponse, warnings: readonly string[]): void {
  for (const text of warnings) {
    const quoted = text.replaceAll(/[^\x20-\x7e]/gu, "?").replaceAll(/["\\]/g, "\\$&");
    res.appendHeader("Warning", `299 parley "${quoted}"`);
  }
}
