import { withoutNulls } from "../../platform/database/values/without-nulls";

/** The `data` of an event as records have it: with dates, and with null in fields that are left out. */
export type Values<D> = {
  readonly [K in keyof D]:
    D[K] | (string extends D[K] ? Date : never) | (undefined extends D[K] ? null : never);
};

/** The `data` of a payload: without nulls, and with dates as text. */
export const dataOf = (values: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(withoutNulls(values)).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  );
