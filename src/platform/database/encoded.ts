import { storedText } from "../json/json-source";

/** Objects and lists as JSON text, for pg would take a list for a PostgreSQL array; what is undefined is left out. */
export function encoded(row: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row) as [string, unknown][])
    if (value !== undefined)
      result[name] =
        typeof value === "object" && value !== null && !(value instanceof Date) ? storedText(value) : value;
  return result;
}
