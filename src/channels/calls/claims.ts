import type { CallbackAnswer } from "../../platform/database/tables/value-types";
import type { Scope } from "../../platform/database/scope";
import type { Utterance } from "../../platform/ports/voice-engine";
import { wordsOf, type TimedUtterance } from "./whole-transcript";

/** Time after the end of a call during which transcripts are accepted, in ms: engines report them late. */
export const TRANSCRIPT_GRACE_MS = 3_600_000;

/**
 * Records a callback, so that it takes effect only once.
 * @param heard the transcript that the callback carries
 * @returns false if a callback with this digest was already recorded
 */
export async function claim(
  scope: Scope,
  chatId: string,
  digest: string,
  heard?: TimedUtterance,
): Promise<boolean> {
  const rows = await scope
    .insert("engine_callbacks", { chatId, digest, ...(heard && { answer: { heard } }) })
    .onConflict(["organizationId", "chatId", "digest"])
    .ignore();
  return rows.length > 0;
}

/** The answer given to a recorded callback; undefined until it is known. */
export async function answerTo(
  scope: Scope,
  chatId: string,
  digest: string,
): Promise<CallbackAnswer | undefined> {
  const [row] = await scope.table("engine_callbacks").where({ chatId, digest });
  return row?.answer ?? undefined;
}

export async function storeAnswer(
  scope: Scope,
  chatId: string,
  digest: string,
  answer: Record<string, unknown>,
): Promise<void> {
  await scope
    .table("engine_callbacks")
    .where({ chatId, digest })
    .update({ answer: scope.json(answer) });
}

/** Source of a report of the whole conversation: a message during the call, or the report at its end. */
export type ReportSource = "conversation" | "report";

/**
 * Stores a report of the whole conversation if it has more words than the stored one. Runs in a transaction that has
 * locked the chat's row.
 */
export async function storeReport(
  scope: Scope,
  chatId: string,
  source: ReportSource,
  told: readonly Utterance[],
): Promise<void> {
  const before = await answerTo(scope, chatId, source);
  if (lengthOf(told) <= lengthOf(before?.told ?? [])) return;
  await scope
    .insert("engine_callbacks", { chatId, digest: source, answer: { told } })
    .onConflict(["organizationId", "chatId", "digest"])
    .merge(["answer"]);
}

const lengthOf = (told: readonly Utterance[]): number =>
  told.reduce((length, { text }) => length + wordsOf(text).length, 0);

/**
 * The words of a call that the engine has reported: single transcripts, and the whole conversation (preferably from
 * the report at the end).
 */
export async function reportsOf(
  scope: Scope,
  chatId: string,
): Promise<{ heard: readonly TimedUtterance[]; told: readonly Utterance[] }> {
  const rows = await scope
    .table("engine_callbacks")
    .where({ chatId })
    .whereNotNull("answer")
    .orderBy(["createdAt", "digest"]);
  const toldBy = (teller: ReportSource) => rows.find(({ digest }) => digest === teller)?.answer?.told;
  return {
    heard: rows.flatMap(({ answer }) => answer?.heard ?? []),
    told: toldBy("report") ?? toldBy("conversation") ?? [],
  };
}

/** Deletes the reports of an ended call once no more are accepted. @returns when to try again if it is too early */
export async function forgetReports(scope: Scope, chatId: string, endedAt: Date): Promise<Date | undefined> {
  const over = scope
    .table("chats")
    .select("id")
    .where({ id: chatId })
    .where("endedAt", "<=", scope.now(-TRANSCRIPT_GRACE_MS));
  if ((await over).length === 0) return new Date(endedAt.getTime() + TRANSCRIPT_GRACE_MS);
  await scope.table("engine_callbacks").where({ chatId }).delete();
  return undefined;
}
