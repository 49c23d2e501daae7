/** What a key may be limited to. `import` is given by the command line only. */
export const PERMISSIONS = ["read", "write", "calls", "keys", "webhooks", "import"] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Limits of a key, and of the tokens and sessions that it stands behind. What is undefined is not limited. */
export interface Limits {
  readonly permissions?: readonly Permission[];
  /** Ids of the assistants whose data it reaches. */
  readonly assistantIds?: readonly string[];
}

/** Limits as rows of keys hold them. */
export interface LimitColumns {
  readonly permissions: readonly Permission[] | null;
  readonly assistantIds: readonly string[] | null;
}

/** Undefined for a key without limits. */
export function limitsOf({ permissions, assistantIds }: LimitColumns): Limits | undefined {
  if (!permissions && !assistantIds) return undefined;
  return { ...(permissions && { permissions }), ...(assistantIds && { assistantIds }) };
}

const covers = <T>(all: readonly T[] | undefined, some: readonly T[] | null): boolean =>
  all === undefined || (some !== null && some.every((one) => all.includes(one)));

/** Whether a key is no wider than some limits. */
export const isWithin = (key: LimitColumns, limits: Limits | undefined): boolean =>
  covers(limits?.permissions, key.permissions) && covers(limits?.assistantIds, key.assistantIds);
