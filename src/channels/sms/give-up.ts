import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import { Receipts } from "./receipts";
import { OutgoingTexts } from "./outgoing-texts";
import { takeMessages } from "./take-messages";

/** Marks a received text that could not be processed as failed and ends the waiting request without an answer. */
export async function giveUpReceived(scope: Scope, messageSid: string): Promise<void> {
  await scope.transaction(async (scope) => {
    const receipts = scope.of(Receipts);
    const held = await receipts.lock(messageSid);
    if (held?.outcome === null)
      await receipts.settle(messageSid, { outcome: "failed", answer: held.answer ?? [] });
  });
}

/** Marks the unsent texts of a chat as failed. */
export async function giveUpSending(scope: Scope, chatId: string): Promise<void> {
  await scope.transaction(async (scope) => {
    const sent = scope.of(OutgoingTexts);
    await takeMessages(scope, chatId, "API");
    const open = await sent.open(chatId);
    if (open.length === 0) return;
    await sent.change(
      open.map(({ id }) => id),
      { problem: "given-up" },
    );
    await logChatError(scope, chatId, new Error("An SMS was not sent: all attempts to send it failed."));
  });
}

/** Marks an unsent notice as failed. */
export async function giveUpNotice(scope: Scope, smsId: string | undefined): Promise<void> {
  const sent = scope.of(OutgoingTexts);
  if (smsId !== undefined && (await sent.openNotice(smsId)))
    await sent.change([smsId], { problem: "given-up" });
}
