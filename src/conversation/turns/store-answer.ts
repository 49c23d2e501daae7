import type { Scope } from "../../platform/database/scope";
import type { PreparedTurn } from "./prepare-turn";
import { postMessage, type TurnMessage } from "./steps";

/** The fields of a turn that storing an answer needs. */
export type AnswerableTurn = Pick<PreparedTurn, "chat" | "answered" | "upTo" | "metadata">;

export type AnswerContent = Omit<TurnMessage, "role" | "answers">;

/**
 * Stores an answer and marks the question as answered in one statement, so that a crash cannot separate them.
 * @returns false if the chat has ended or another worker has answered
 */
export function storeIfUnanswered(
  scope: Scope,
  turn: AnswerableTurn,
  content: AnswerContent,
): Promise<boolean> {
  const answers = { since: turn.answered, upTo: turn.upTo };
  return postMessage(scope, turn, { role: "ASSISTANT", ...content, answers });
}
