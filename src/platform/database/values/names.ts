const snakes = new Map<string, string>();
const camels = new Map<string, string>();
const memo = (known: Map<string, string>, name: string, make: () => string): string => {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = make();
  known.set(name, made);
  return made;
};
/** The name of a column in the database: `createdAt` is `created_at`. */
export const snake = (name: string) =>
  memo(snakes, name, () => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
/** The name of a column in TypeScript: `created_at` is `createdAt`. */
export const camel = (name: string) =>
  memo(camels, name, () => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

/** A row with the names that TypeScript uses: `created_at` is `createdAt`. */
export function toRow(columns: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name in columns) row[camel(name)] = columns[name];
  return row;
}
