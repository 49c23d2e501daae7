/** Times of a record of another service. */
export interface KeptTimes {
  /** Default: now. */
  readonly createdAt?: Date | null;
  /** Default: `createdAt` for a new record, now for a change. */
  readonly updatedAt?: Date | null;
}

/** Times of a new record, as columns: the database supplies missing ones. */
export function timesOfNew({ createdAt, updatedAt }: KeptTimes): { createdAt?: Date; updatedAt?: Date } {
  const changedAt = updatedAt ?? createdAt;
  return { ...(createdAt && { createdAt }), ...(changedAt && { updatedAt: changedAt }) };
}
