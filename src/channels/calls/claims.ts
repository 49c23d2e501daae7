import type { Scope } from "../../platform/database/scope";
import type { Said } from "../../platform/ports/voice-engine";
import { wordsOf, type Heard } from "./whole-transcript";

/** Words are reported late: after the end of a call they are taken for this long, in milliseconds. */
export const WORDS_LATE = 3_600_000;

/**
 * Notes that a callback has its effect now.
 * @param heard the transcript that it is
 * @returns whether it is the first with this digest
 */
export async function claim(scope: Scope, chatId: string, digest: string, heard?: Heard): Promise<boolean> {
  const rows = await scope
    .insert("engine_callbacks", { chatId, digest, ...(heard && { answer: { heard } }) })
    .onConflict(["organizationId", "chatId", "digest"])
    .ignore();
  return rows.length > 0;
}

/** What a claimed callback was answered; undefined while that is not known. */
export async function answerTo(
  scope: Scope,
  chatId: string,
  digest: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await scope.table("engine_callbacks").where({ chatId, digest });
  return row?.answer ?? undefined;
}

export async function keepAnswer(
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

/** Which report of the whole conversation: one during the call, or the one at its end. */
export type Teller = "conversation" | "report";

/** Keeps the fullest report of the whole conversation, in a transaction that holds the chat's row. */
export async function keepTold(
  scope: Scope,
  chatId: string,
  teller: Teller,
  told: readonly Said[],
): Promise<void> {
  const before = (await answerTo(scope, chatId, teller)) as { told: readonly Said[] } | undefined; // written below
  if (lengthOf(told) <= lengthOf(before?.told ?? [])) return;
  await scope
    .insert("engine_callbacks", { chatId, digest: teller, answer: { told } })
    .onConflict(["organizationId", "chatId", "digest"])
    .merge(["answer"]);
}

const lengthOf = (told: readonly Said[]): number =>
  told.reduce((length, { text }) => length + wordsOf(text).length, 0);

/** What the engine has reported of a call's words: its transcripts, and the conversation, preferably as told at the end. */
export async function reportsOf(
  scope: Scope,
  chatId: string,
): Promise<{ heard: readonly Heard[]; told: readonly Said[] }> {
  const rows = (await scope
    .table("engine_callbacks")
    .where({ chatId })
    .whereNotNull("answer")
    .orderBy(["createdAt", "digest"])) as { digest: string; answer: { heard?: Heard; told?: Said[] } }[];
  const toldBy = (teller: Teller) => rows.find(({ digest }) => digest === teller)?.answer.told;
  return {
    heard: rows.flatMap(({ answer: { heard } }) => (heard ? [heard] : [])),
    told: toldBy("report") ?? toldBy("conversation") ?? [],
  };
}

/** Deletes the reports of an ended call once no more are taken. @returns when to do so, if it is too early */
export async function forgetReports(scope: Scope, chatId: string, endedAt: Date): Promise<Date | undefined> {
  const over = scope
    .table("chats")
    .select("id")
    .where({ id: chatId })
    .where("endedAt", "<=", scope.now(-WORDS_LATE));
  if ((await over).length === 0) return new Date(endedAt.getTime() + WORDS_LATE);
  await scope.table("engine_callbacks").where({ chatId }).delete();
  return undefined;
}
