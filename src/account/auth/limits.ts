/** Permissions that a key can be limited to. Only the command line grants `import`. */
export const PERMISSIONS = ["read", "write", "calls", "keys", "webhooks", "import"] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Limits of a key and of the tokens and sessions issued with it. Undefined fields are not limited. */
export interface Limits {
  readonly permissions?: readonly Permission[];
  /** Ids of the assistants whose data the key can access. */
  readonly assistantIds?: readonly string[];
}

/** Limits as the columns of a key. */
export interface LimitColumns {
  readonly permissions: readonly Permission[] | null;
  readonly assistantIds: readonly string[] | null;
}

/** Undefined for a key without limits. */
export function limitsOf({ permissions, assistantIds }: LimitColumns): Limits | undefined {
  if (!permissions && !assistantIds) return undefined;
  return { ...(permissions && { permissions }), ...(assistantIds && { assistantIds }) };
}

/**
 * The limits within which a caller sees keys. One that may import can store keys without limits, so it sees those, too.
 */
export function limitsOfSeenKeys(limits: Limits | undefined): Limits | undefined {
  if (!limits?.permissions?.includes("import")) return limits;
  return limits.assistantIds && { assistantIds: limits.assistantIds };
}
