import type { Database } from "../../platform/database/database";
import { KEEP_STEP, VersionKeeper } from "./version-keeper";

/** The online step that is done when all assistants have a version. */
const FIRST_STEP = "first_versions";
const BATCH_SIZE = 200;
/** A run ends after this time, so that other periodic jobs do not wait; the next one continues. In ms. */
const RUN_MS = 20_000;

/** Makes version 1 of assistants from before versions were kept, while servers use them. */
export async function makeFirstVersions(database: Database): Promise<void> {
  if ((await database.isStepDone(FIRST_STEP)) || !(await database.isStepDone(KEEP_STEP))) return;
  const until = performance.now() + RUN_MS;
  while (performance.now() < until) {
    const left = await database.unversionedAssistants(BATCH_SIZE);
    if (left.length === 0) return;
    for (const { organizationId, assistantId } of left)
      await database.scope(organizationId).of(VersionKeeper).begin(assistantId);
  }
}
