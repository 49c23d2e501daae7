import { Statement, type Build, type Condition } from "../statement";

/** Conditions by filter name. Each has one value. */
export type Conditions<F extends string> = Readonly<Record<F, Condition>>;

/** Values of the filters. A filter without a value is omitted. */
export type Filter<F extends string> = { readonly [K in F]?: unknown };

/**
 * A statement per combination of filters, created on first use. Their number is bounded, whatever clients request.
 */
export class FilteredStatement<R, F extends string> {
  private readonly names: readonly F[];
  private readonly made = new Map<string, Statement<R>>();

  constructor(
    private readonly conditions: Conditions<F> | undefined,
    private readonly build: Build<R>,
    private readonly isPrepared = true,
  ) {
    this.names = Object.keys(conditions ?? {}) as F[]; // the keys are exactly F
  }

  /** The statement for a filter, and the values of its conditions, which follow the statement's own. */
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
