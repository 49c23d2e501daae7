import type { Scope } from "../../platform/database/scope";

/** Enqueues the dialing of a call, now or later; replaces a job that is already waiting. */
export const enqueueStart = (scope: Scope, chatId: string, runAt?: Date): Promise<void> =>
  scope.enqueue("call.start", { chatId }, { key: `call.start:${chatId}`, ...(runAt && { runAt }) });

/** Schedules the next check of a call; only one check per call waits at a time. */
export const enqueueWatch = (scope: Scope, chatId: string, runAt: Date): Promise<void> =>
  scope.enqueue("call.watch", { chatId }, { key: `call.watch:${chatId}`, runAt });
