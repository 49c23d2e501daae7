/** A record without null values, which rows contain and responses omit. */
export const withoutNulls = (record: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined));
