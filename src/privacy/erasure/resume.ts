import type { Database } from "../../platform/database/database";
import { enqueueErasure } from "./erasures";

/** An erasure of which nothing was seen for so many seconds has nobody who works at it. */
const SILENCE_SECONDS = 180;

/** Has erasures go on that were broken off, however often that happened. */
export async function resumeErasures(database: Database): Promise<void> {
  for (const { organizationId, erasureId } of await database.unfinishedErasures(SILENCE_SECONDS))
    await enqueueErasure(database.scope(organizationId), erasureId);
}
