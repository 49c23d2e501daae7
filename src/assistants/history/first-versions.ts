import type { Database } from "../../platform/database/database";
import { rest } from "../../platform/jobs/rest";
import { KEEP_STEP, VersionKeeper } from "./version-keeper";

/** The online step that is done when all assistants from before versions were kept have one. */
const FIRST_STEP = "first_versions";
const BATCH_SIZE = 200;
/** A run ends after this time, so that other periodic tasks do not wait; the next one continues. In ms. */
const MAX_RUN_MS = 20_000;

/**
 * Stores version 1 of assistants from before versions were kept, while servers use them. An assistant that changes
 * meanwhile stores its own.
 * @param stop ends the run after the assistant at hand, when the server stops
 */
export async function makeFirstVersions(database: Database, stop?: AbortSignal): Promise<void> {
  if ((await database.isStepDone(FIRST_STEP)) || !(await database.isStepDone(KEEP_STEP))) return;
  const startedAt = performance.now();
  const isOver = () => stop?.aborted === true || performance.now() - startedAt > MAX_RUN_MS;
  while (!isOver()) {
    const left = await database.unversionedAssistants(BATCH_SIZE);
    if (left.length === 0) return;
    for (const { organizationId, assistantId } of left) {
      if (isOver()) return;
      const began = performance.now();
      await database.scope(organizationId).of(VersionKeeper).begin(assistantId);
      await rest(began, stop);
    }
  }
}
