import type { Readable } from "node:stream";
import type { BackupPlace } from "../platform/ports/backup-place";

/** The place of a new backup, which can be undone. */
export interface UndonePlace extends BackupPlace {
  /** Ends the running writes, which leave nothing, and deletes what was written where the place can do so. */
  undo(reason: unknown): Promise<void>;
}

/** @param signal ends the backup at the next byte that is written */
export function undonePlace(place: BackupPlace, signal?: AbortSignal): UndonePlace {
  const running = new Map<Promise<void>, Readable>();
  let isPrepared = false;
  const stop = (reason: unknown) => {
    for (const content of running.values()) content.destroy(reason as Error);
  };
  signal?.addEventListener("abort", () => stop(signal.reason));
  return {
    ...place,
    async prepare() {
      signal?.throwIfAborted();
      await place.prepare();
      isPrepared = true;
    },
    async write(path, content) {
      signal?.throwIfAborted();
      content.on("error", () => undefined); // the end of a content that is read already has no other listener
      const writing = place.write(path, content);
      running.set(writing, content);
      await writing.finally(() => running.delete(writing));
    },
    async undo(reason) {
      stop(reason);
      await Promise.allSettled(running.keys());
      if (isPrepared) await place.discard?.();
    },
  };
}
