/** What a record holds: absent is `null` in rows, and left out of what is shown. */
export const withoutNulls = (record: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined));
