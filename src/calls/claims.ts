import type { Scope } from "../database/scope";

/** Notes that a callback has its effect now. @returns whether it is the first with this digest */
export async function claim(scope: Scope, chatId: string, digest: string): Promise<boolean> {
  const rows = (await scope
    .insert("engine_callbacks", { chatId, digest })
    .onConflict(["organizationId", "chatId", "digest"])
    .ignore()) as unknown[];
  return rows.length > 0;
}

/** What a claimed callback was answered; undefined while that is not known. */
export async function answerTo(
  scope: Scope,
  chatId: string,
  digest: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = (await scope.table("engine_callbacks").where({ chatId, digest })) as {
    answer: Record<string, unknown> | null;
  }[];
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
    .update({ answer: JSON.stringify(answer) });
}
