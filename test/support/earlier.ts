/** A stored time minus an interval, as SQL; only immutable functions, which changes in a Citus cluster require. */
export const earlier = (column: string, interval: string): string =>
  `(${column} at time zone 'UTC' - ${interval}) at time zone 'UTC'`;
