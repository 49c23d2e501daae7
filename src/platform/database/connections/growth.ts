/**
 * Bytes that this process has stored per organization since the last call of `takeGrowth`. A process has one
 * database.
 */
const grown = new Map<string, number>();

/** Adds the text values of a statement. Overestimates the stored size, because PostgreSQL compresses long texts. */
export function noteGrowth(organizationId: string | undefined, values: readonly unknown[] = []): void {
  if (!organizationId) return;
  let bytes = 0;
  for (const value of values) if (typeof value === "string") bytes += value.length;
  if (bytes > 0) grown.set(organizationId, (grown.get(organizationId) ?? 0) + bytes);
}

/** The growth that has not been taken yet. */
export const growthOf = (organizationId: string): number => grown.get(organizationId) ?? 0;

/** Returns and resets the growth of an organization, to add it to the stored size. */
export function takeGrowth(organizationId: string): number {
  const bytes = growthOf(organizationId);
  grown.delete(organizationId);
  return bytes;
}

/** Restores growth that could not be added. */
export const giveBackGrowth = (organizationId: string, bytes: number): void =>
  void grown.set(organizationId, growthOf(organizationId) + bytes);

/** Bytes from which growth is worth a statement; adding less would itself cause the growth that is added next. */
const LEAST_GROWTH = 1_024;

/** Organizations with growth to add. */
export const growing = (): string[] =>
  [...grown].filter(([, bytes]) => bytes >= LEAST_GROWTH).map(([organizationId]) => organizationId);
