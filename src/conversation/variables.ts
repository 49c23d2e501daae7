type Values = Readonly<Record<string, unknown>> | null;

const PLACE = /\{([A-Za-z0-9_.]+)\}/g;

/**
 * Fills in `{name}`. The first of `sources` that has the name decides; a name that none has stays as written, and a
 * value is inserted once: places inside it are not filled again.
 */
export function fill(text: string, sources: readonly Values[]): string {
  return text.replace(PLACE, (place, name: string) => {
    const source = sources.find((values) => values !== null && Object.hasOwn(values, name));
    return source ? shown(source[name]) : place;
  });
}

/** The same in every string of a value, keys excepted. */
export function fillDeep(value: unknown, sources: readonly Values[]): unknown {
  if (typeof value === "string") return fill(value, sources);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, sources));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDeep(item, sources)]));
}

const shown = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
