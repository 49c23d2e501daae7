/** Bytes that this process has sent to be stored since they were last taken, by organization. A process has one database. */
const grown = new Map<string, number>();

/** Adds the texts of a statement that stores something. Larger than what is stored, as PostgreSQL compresses long texts. */
export function noteGrowth(organizationId: string | undefined, values: readonly unknown[] = []): void {
  if (!organizationId) return;
  let bytes = 0;
  for (const value of values) if (typeof value === "string") bytes += value.length;
  if (bytes > 0) grown.set(organizationId, (grown.get(organizationId) ?? 0) + bytes);
}

/** What has not been taken yet. */
export const growthOf = (organizationId: string): number => grown.get(organizationId) ?? 0;

/** Takes the growth of an organization, to add it to its stored size. */
export function takeGrowth(organizationId: string): number {
  const bytes = growthOf(organizationId);
  grown.delete(organizationId);
  return bytes;
}

/** Gives back what could not be added. */
export const giveBackGrowth = (organizationId: string, bytes: number): void =>
  void grown.set(organizationId, growthOf(organizationId) + bytes);

/** Organizations that have grown. */
export const growing = (): string[] => [...grown.keys()];
