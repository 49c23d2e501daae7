import type { Database } from "../../platform/database/database";
import { enqueueErasure } from "./erasures";

/** Seconds without progress after which an erasure counts as abandoned. */
const SILENCE_SECONDS = 180;

/** Enqueues abandoned erasures again, however often they were interrupted. */
export async function resumeErasures(database: Database): Promise<void> {
  for (const { organizationId, erasureId } of await database.unfinishedErasures(SILENCE_SECONDS))
    await enqueueErasure(database.scope(organizationId), erasureId);
}
