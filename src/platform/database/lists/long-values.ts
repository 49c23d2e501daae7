import { isLate, lateJson, readLate } from "../../json/json-source";
import type { Scope } from "../scope";
import type { Statement } from "../statement";

/** A row with the names of columns whose values are too long to be read with it. */
export interface LongColumns {
  readonly id: string;
  readonly long: readonly string[];
}

/** The way in which a list reads long values. */
interface LongValues {
  /** Replacements for long values of rows that were deleted. */
  readonly unbounded: Readonly<Record<string, unknown>>;
  /** Statements that read a long value of one row, by column. */
  readonly whole: Readonly<Record<string, Statement<Record<string, unknown>>>>;
}

/** Rows with their long values, which are read one after another. */
export async function withLong<R extends LongColumns>(
  scope: Scope,
  list: LongValues,
  found: readonly R[],
): Promise<R[]> {
  const rows: R[] = [];
  for (const row of found)
    rows.push(row.long.length === 0 ? row : { ...row, ...(await longValues(scope, list, row.id, row.long)) });
  return rows;
}

/** The long values of a row, or their placeholders in a streamed response. */
async function longValues(
  scope: Scope,
  { whole, unbounded }: LongValues,
  id: string,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const read = async (name: string) => {
    const [row] = await scope.read(whole[name]!, [id]);
    return row ? row[name] : unbounded[name];
  };
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = lateJson(scope, () => read(name)) ?? (await read(name));
  return values;
}

/** The last queued use of a long value, by scope. */
const turns = new WeakMap<Scope, Promise<unknown>>();

/**
 * Passes a value of a listed row to `use`. Long values are read and used one after another, so that few are in memory
 * at once.
 */
export function withWhole<V, R>(scope: Scope, value: V, use: (value: V) => Promise<R>): Promise<R> {
  if (!isLate(value)) return use(value);
  const before = turns.get(scope) ?? Promise.resolve();
  const turn = before.then(async () => use((await readLate(scope, String(value))) as V)); // a placeholder for a value of the column
  turns.set(
    scope,
    turn.catch(() => undefined),
  );
  return turn;
}
