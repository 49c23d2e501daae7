import { keepError } from "../../chats/chats/keep-error";
import type { Scope } from "../../platform/database/scope";
import { Receipts } from "./receipts";
import { Sent } from "./sent";
import { takeMessages } from "./take-messages";

/** Marks a text that could not be handled as failed, and lets the request that brought it end without an answer. */
export async function giveUpReceived(scope: Scope, messageSid: string): Promise<void> {
  await scope.transaction(async (scope) => {
    const receipts = scope.of(Receipts);
    const held = await receipts.hold(messageSid);
    if (held?.outcome === null)
      await receipts.settle(messageSid, { outcome: "failed", answer: held.answer ?? [] });
  });
}

/** Marks the texts of a chat that were not sent as failed. */
export async function giveUpSending(scope: Scope, chatId: string): Promise<void> {
  await scope.transaction(async (scope) => {
    const sent = scope.of(Sent);
    await takeMessages(scope, chatId, "API");
    const open = await sent.open(chatId);
    if (open.length === 0) return;
    await sent.change(
      open.map(({ id }) => id),
      { problem: "given-up" },
    );
    await keepError(scope, chatId, new Error("An SMS was not sent: all attempts to send it failed."));
  });
}

/** Marks a sentence that was not sent as failed. */
export async function giveUpSentence(scope: Scope, smsId: string | undefined): Promise<void> {
  const sent = scope.of(Sent);
  if (smsId !== undefined && (await sent.openSentence(smsId)))
    await sent.change([smsId], { problem: "given-up" });
}
