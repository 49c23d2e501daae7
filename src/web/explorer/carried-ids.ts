import { GIVES, type ExplorerTab } from "./placeholders";
import { explorerTabs } from "./tabs";

type Json = Readonly<Record<string, unknown>>;

/** Ids returned by operations, by placeholder; and the ids filled into variables, by tab and path. */
export interface Carried {
  readonly ids: Readonly<Record<string, string>>;
  readonly filled: Readonly<Record<string, string>>;
}

export const NOTHING_CARRIED: Carried = { ids: {}, filled: {} };

/** Adds the ids of the records that an answer has created. */
export function learned(carried: Carried, data: unknown): Carried {
  const ids: Record<string, string> = {};
  for (const [field, placeholder] of Object.entries(GIVES)) {
    const id: unknown = Object((data as Json | null)?.[field]).id;
    if (typeof id === "string") ids[placeholder] = id;
  }
  return Object.keys(ids).length === 0 ? carried : { ...carried, ids: { ...carried.ids, ...ids } };
}

/** First operation of a document; it identifies a prepared tab. */
const nameOf = (query: string) => /^(?:query|mutation|subscription)\s+(\w+)/m.exec(query)?.[1];

const preparedTab = (query: string): ExplorerTab | undefined =>
  explorerTabs.find((tab) => nameOf(tab.query) === nameOf(query));

/** Every placeholder in prepared variables, with its path. */
function placeholders(value: unknown, path: readonly string[] = []): [path: readonly string[], string][] {
  if (typeof value === "string") return Object.values(GIVES).includes(value) ? [[path, value]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => placeholders(part, [...path, name]));
}

/**
 * Fills ids into the variables of a prepared tab, where they still contain a placeholder, nothing, or an id filled
 * earlier. @returns undefined if nothing changes
 */
export function withIds(
  carried: Carried,
  query: string,
  variables: string,
): { readonly carried: Carried; readonly variables: string } | undefined {
  const tab = preparedTab(query);
  const values = parsed(variables);
  if (!tab || !values) return undefined;
  const filled: Record<string, string> = {};
  for (const [path, placeholder] of placeholders(tab.variables)) {
    const id = carried.ids[placeholder];
    const place = [nameOf(tab.query), ...path].join(".");
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((one, step) => (one as Json | undefined)?.[step], values);
    const last = path.at(-1)!;
    const present: unknown = Object(parent)[last];
    const isOurs = ["", null, placeholder, carried.filled[place]].includes(present as string);
    if (id === undefined || present === undefined || present === id || !isOurs) continue;
    (parent as Record<string, unknown>)[last] = id;
    filled[place] = id;
  }
  if (Object.keys(filled).length === 0) return undefined;
  return {
    carried: { ...carried, filled: { ...carried.filled, ...filled } },
    variables: JSON.stringify(values, undefined, 2),
  };
}

function parsed(variables: string): Json | undefined {
  try {
    return JSON.parse(variables) as Json;
  } catch {
    return undefined; // with comments, or unfinished
  }
}
