import { isDeepStrictEqual } from "node:util";

/** Whether a row has these values; undefined ones do not count. */
export const hasValues = (row: object, values: object): boolean =>
  Object.entries(values).every(
    ([name, value]) => value === undefined || isDeepStrictEqual(row[name as keyof typeof row], value),
  );
