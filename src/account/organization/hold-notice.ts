import type { Scope } from "../../platform/database/scope";

const currentHolds = (scope: Scope) =>
  scope.shared("holds").whereNull("releasedAt").orderBy("since").limit(1);

/** Whether the installation is held, i.e. sends nothing and answers nobody. */
export const isHeld = async (scope: Scope): Promise<boolean> => (await currentHolds(scope)).length > 0;

/** Warnings to an organization while the installation is held, i.e. sends nothing. */
export async function holdWarnings(scope: Scope): Promise<string[]> {
  const holds = await currentHolds(scope);
  return holds.map(({ reason, since }) =>
    reason === "RESTORED"
      ? `This installation was restored from a backup at ${since.toISOString()} and is held: turns, calls, texts and webhook deliveries wait until the operator releases it.`
      : `This installation was moved to another database at ${since.toISOString()} and is held: it sends nothing.`,
  );
}
