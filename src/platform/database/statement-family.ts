/** Largest number of prepared statements of a family: a connection keeps each, and clients choose among them. */
const MAX_PREPARED = 25;

/**
 * Statements that differ in the columns which clients choose. The first ones are created once and prepared; later ones
 * are created for each use.
 */
export class StatementFamily<S> {
  private readonly known = new Map<string, S>();

  /** @param create creates the statement for some columns */
  constructor(private readonly create: (columns: readonly string[], isPrepared: boolean) => S) {}

  of(columns: readonly string[]): S {
    const name = columns.join();
    const known = this.known.get(name);
    if (known) return known;
    const isPrepared = this.known.size < MAX_PREPARED;
    const created = this.create(columns, isPrepared);
    if (isPrepared) this.known.set(name, created);
    return created;
  }
}
