import type { Scope } from "../../platform/database/scope";

/** Dials a call, now or later; one that waits already is replaced. */
export const enqueueStart = (scope: Scope, chatId: string, runAt?: Date): Promise<void> =>
  scope.enqueue("call.start", { chatId }, { key: `call.start:${chatId}`, ...(runAt && { runAt }) });

/** Looks after a call at a moment; one look waits at a time. */
export const enqueueWatch = (scope: Scope, chatId: string, runAt: Date): Promise<void> =>
  scope.enqueue("call.watch", { chatId }, { key: `call.watch:${chatId}`, runAt });
