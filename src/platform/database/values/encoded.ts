import { storedText } from "../../json/json-source";

/**
 * Encodes objects and lists as JSON text, because pg would convert a list to a PostgreSQL array; omits undefined
 * values.
 */
export function encoded(row: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row) as [string, unknown][])
    if (value !== undefined)
      result[name] =
        typeof value === "object" && value !== null && !(value instanceof Date) ? storedText(value) : value;
  return result;
}
