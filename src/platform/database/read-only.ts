const READ_ONLY = "25006";

/** Lets a read go on without a write that belongs to it, on a database that takes no writes. @throws every other error */
export function unlessReadOnly(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== READ_ONLY) throw error;
  return undefined;
}
