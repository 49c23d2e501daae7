/** Readings of records that somebody keeps changing; the last one is taken as it is. */
export const MOST_READINGS = 10;

/** How records with versions are read. */
interface Source<R> {
  /** Numbers of the current versions, by the ids of the records that there are. */
  readonly versionsOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly read: (ids: readonly string[]) => Promise<readonly R[]>;
}

/** A record and the version that it has. */
export interface Versioned<R> {
  readonly record: R;
  /** Number of the version that was current before the record was read. */
  readonly version: number;
  /** Whether the version was the same after the record was read. Otherwise its fields may be of several versions. */
  readonly isWhole: boolean;
}

/**
 * Reads records, and again those whose version changes meanwhile: a server reads the fields of a record one after the other.
 * Leaves out records that are gone.
 */
export async function readOfOneVersion<R extends { readonly id?: unknown }>(
  ids: readonly string[],
  { versionsOf, read }: Source<R>,
): Promise<Versioned<R>[]> {
  const found = new Map<unknown, Versioned<R>>();
  let left = ids;
  let before = await versionsOf(left);
  for (let count = 1; left.length > 0 && count <= MOST_READINGS; count++) {
    const records = await read(left);
    const after = await versionsOf(left);
    for (const record of records) {
      const id = record.id as string;
      const version = before.get(id);
      if (version !== undefined) found.set(id, { record, version, isWhole: version === after.get(id) });
    }
    left = left.filter((id) => after.has(id) && before.get(id) !== after.get(id));
    before = after;
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}
