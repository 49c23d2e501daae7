const READ_ONLY = "25006";

/** Ignores the failure of a write that accompanies a read on a read-only database. @throws all other errors */
export function unlessReadOnly(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== READ_ONLY) throw error;
  return undefined;
}
