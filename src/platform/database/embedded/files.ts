import { stat } from "node:fs/promises";

/** Whether a path exists and is visible. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Whether a system or PostgreSQL error has one of these codes. Avoids instanceof, because jest has its own Error
 * class.
 */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? ""); // other values have no code
}
