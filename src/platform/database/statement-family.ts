/** Largest number of prepared statements of a family: a connection keeps each, and clients choose among them. */
const MAX_PREPARED = 25;

/**
 * Statements that differ in the columns which clients choose. The first ones are created once and prepared; later ones
 * are created for each use.
 */
export class StatementFamily<S> {
  private readonly known = new Map<string, S>();

  /** @param create creates the statement for some columns, and for long values or only for short ones */
  constructor(
    private readonly create: (columns: readonly string[], isPrepared: boolean, hasLong: boolean) => S,
  ) {}

  of(columns: readonly string[], hasLong = false): S {
    const name = `${columns.join()} ${hasLong}`;
    const known = this.known.get(name);
    if (known) return known;
    const isPrepared = this.known.size < MAX_PREPARED;
    const created = this.create(columns, isPrepared, hasLong);
    if (isPrepared) this.known.set(name, created);
    return created;
  }
}
