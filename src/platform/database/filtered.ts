import { Statement, type Build, type Condition } from "./statement";

/** Conditions by the names of what they filter by. Each has one value. */
export type Conditions<F extends string> = Readonly<Record<F, Condition>>;

/** Values of conditions. One that is null or missing leaves its condition out. */
export type Filter<F extends string> = { readonly [K in F]?: unknown };

/**
 * Statements that differ in which of their conditions are given. There is one for each combination, made on first use:
 * their number is bounded, whatever clients ask for.
 */
export class Filtered<R, F extends string> {
  private readonly names: readonly F[];
  private readonly made = new Map<string, Statement<R>>();

  constructor(
    private readonly conditions: Conditions<F> | undefined,
    private readonly build: Build<R>,
    private readonly isPrepared = true,
  ) {
    this.names = Object.keys(conditions ?? {}) as F[]; // of a record by these names
  }

  /** The statement for a filter, with the values that follow its own. */
  by(filter: Filter<F>): { readonly statement: Statement<R>; readonly values: readonly unknown[] } {
    const given = this.names.filter((name) => filter[name] != null);
    const combination = given.join();
    let statement = this.made.get(combination);
    if (!statement) this.made.set(combination, (statement = this.with(given)));
    return { statement, values: given.map((name) => filter[name]) };
  }

  private with(given: readonly F[]): Statement<R> {
    const { build, isPrepared } = this;
    return new Statement(build, { isPrepared, conditions: given.map((name) => this.conditions![name]) });
  }
}
