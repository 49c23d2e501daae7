import { takeTurn } from "../conversation/turn";
import type { Scope } from "../database/scope";

/** What a job may do, by name. Jobs are told ids only. */
export const tasks = {
  "chat.turn": (scope, { chatId }) => takeTurn(scope, chatId!),
} satisfies Record<string, (scope: Scope, payload: Readonly<Record<string, string>>) => Promise<void>>;
