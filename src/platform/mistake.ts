/**
 * EX_CONFIG of sysexits.h. A supervisor need not start again what ends with it: systemd does not, by the unit in `deploy/`.
 * Programs that run before the build have the number themselves.
 */
const EX_CONFIG = 78;

interface Marked extends Error {
  readonly exitCode?: typeof EX_CONFIG;
}

/** Marks an error as one that only the operator can mend, in contrast to one that a later start may not meet. */
export const mistake = (error: Error): Error => Object.assign(error, { exitCode: EX_CONFIG });

/** The exit code of a program that an error ends. */
export function exitCodeOf(error: unknown): number {
  for (let each = error; each instanceof Error; each = each.cause)
    if ((each as Marked).exitCode === EX_CONFIG) return EX_CONFIG;
  return 1;
}
