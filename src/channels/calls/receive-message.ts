import { hash } from "node:crypto";
import { currentDate } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { measureAgain } from "../../chats/analytics/measure-again";
import { runInOrder } from "../../platform/run-in-order";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { EngineAnswer, EngineMessage, Utterance } from "../../platform/ports/voice-engine";
import { conclude, speakerOf } from "../../conversation/workflows/speaker";
import { callTools } from "./call-tools";
import { Calls, type CallRow } from "./calls";
import { claim, storeReport, TRANSCRIPT_GRACE_MS } from "./claims";
import { noteHeard, type FoundCall } from "./live-call";
import { orderOf } from "./order";
import { settleTranscript } from "./settle-transcript";
import { Transcript } from "./transcript";

/** Effect of a message from the engine. */
export type CallbackOutcome = "applied" | "repeated" | "ignored";
export interface CallbackResult {
  readonly outcome: CallbackOutcome;
  readonly answer?: Record<string, unknown>;
}

/** Time after the end of a call during which its recording is accepted, in ms. */
const RECORDING_GRACE_MS = 86_400_000;
const NO_TRANSFER = "This call can't be transferred: no destination is set.";
const APPLIED: CallbackResult = { outcome: "applied" };
const REPEATED: CallbackResult = { outcome: "repeated" };
const IGNORED: CallbackResult = { outcome: "ignored" };
const UNKNOWN = "unknown";

/**
 * Applies a message from the engine. For an ended call, only messages that complete it are applied: transcript,
 * recording, end reason.
 */
export async function receiveMessage(found: FoundCall, body: unknown): Promise<CallbackResult> {
  const message = found.scope.ports.voice.engine.read(body);
  const ended = found.chat.status === "ended";
  if (!ended) await noteHeard(found, body);
  switch (message.type) {
    case "transcript":
      return message.final ? applyTranscript(found, body, message) : IGNORED;
    case "conversation":
      return applyConversation(found, message.said);
    case "report":
      return applyReport(found, message);
  }
  if (ended) return IGNORED;
  switch (message.type) {
    case "status":
      return applyStatus(found, message);
    case "tool-calls":
      return callTools(found, message.calls, digestOf(body));
    case "assistant-request":
      return sendAssistant(found);
    case "transfer-request":
      return applyWithAnswer(found, { type: "no-transfer", message: NO_TRANSFER });
    case "hang":
      return recordDelay(found, body);
    case "other":
      return IGNORED;
  }
}

function applyTranscript(
  found: FoundCall,
  body: unknown,
  { said, at }: EngineMessage & { type: "transcript" },
): Promise<CallbackResult> {
  const heard = { ...said, ...(at !== undefined && { at }) };
  return withLockedCall(found, async (scope, chat, call) => {
    if (!(await claim(scope, chat.id, digestOf(body), heard))) return REPEATED;
    if (chat.status === "ended") await settleTranscript(scope, chat, call);
    else await new Transcript(scope, call).addTranscript(said);
    return APPLIED;
  });
}

function applyConversation(found: FoundCall, said: readonly Utterance[]): Promise<CallbackResult> {
  return withLockedCall(found, async (scope, chat, call) => {
    await storeReport(scope, chat.id, "conversation", said);
    if (chat.status === "ended") await settleTranscript(scope, chat, call);
    else await new Transcript(scope, call).addConversation(said);
    return APPLIED;
  });
}

async function sendAssistant(found: FoundCall): Promise<CallbackResult> {
  const { scope, chat, call } = found;
  const speaker = await speakerOf(scope, chat);
  if (!("ending" in speaker))
    return applyWithAnswer(found, { type: "assistant", order: await orderOf(scope, speaker, call) });
  await conclude(scope, chat, speaker.ending);
  return APPLIED;
}

async function applyStatus(
  found: FoundCall,
  message: EngineMessage & { type: "status" },
): Promise<CallbackResult> {
  const { status } = message;
  if (status === "ended")
    return withLockedCall(found, async (scope, chat, call) => {
      await settleTranscript(scope, chat, call); // before the end, so that the events of the words come first
      const reason = chat.ending ?? message.endedReason ?? UNKNOWN;
      return (await scope.of(Chats).endIfLive(chat.id, reason, { hangUp: false })) ? APPLIED : REPEATED;
    });
  const { scope, chat } = found;
  return scope.transaction(async (scope) => {
    if (!(await scope.of(Chats).advance(chat.id, status))) return REPEATED;
    if (status === "in-progress") await scope.of(Calls).change(chat.id, { answeredAt: currentDate() });
    return APPLIED;
  });
}

/** Applies the report at the end: ends the call if it is live, and adds missing words, recording and end reason. */
async function applyReport(
  found: FoundCall,
  report: EngineMessage & { type: "report" },
): Promise<CallbackResult> {
  const { recordingUrl, said, endedReason } = report;
  const completed = await withLockedCall(found, async (scope, chat, call) => {
    await storeReport(scope, chat.id, "report", said);
    const settled = await settleTranscript(scope, chat, call);
    const ended = await scope
      .of(Chats)
      .endIfLive(chat.id, chat.ending ?? endedReason ?? UNKNOWN, { hangUp: false });
    const explained = endedReason !== undefined && (await storeReason(scope, chat.id, endedReason));
    return settled || ended || explained ? APPLIED : REPEATED;
  });
  if (recordingUrl === undefined) return completed;
  const recorded = await found.scope.transaction((scope) =>
    storeRecording(scope, found.chat.id, recordingUrl),
  );
  return recorded ? APPLIED : completed;
}

/** Stores the end reason if the call ended without one. */
async function storeReason(scope: Scope, id: string, endedReason: string): Promise<boolean> {
  const unexplained = scope.table("chats").where({ id, status: "ended", endedReason: UNKNOWN });
  const changed = await unexplained.update({ endedReason, counted: false });
  if (changed > 0) {
    await measureAgain(scope, id);
    await scope.storeEntry(); // no event covers this change
  }
  return changed > 0 && endedReason !== UNKNOWN;
}

async function storeRecording(scope: Scope, id: string, recordingUrl: string): Promise<boolean> {
  const [chat] = await scope
    .table("chats")
    .where({ id, status: "ended" })
    .where("endedAt", ">", currentDate(-RECORDING_GRACE_MS))
    .whereNull("recordingUrl")
    .update({ recordingUrl })
    .returning("*");
  if (chat) await scope.of(Events).recordingAvailable(chat, recordingUrl);
  return chat !== undefined;
}

/** Logs that the engine waited too long for the assistant. */
const recordDelay = (found: FoundCall, body: unknown): Promise<CallbackResult> =>
  once(found, body, async (scope, { chatId: id }) => {
    const entry = { at: currentDate(), message: "The voice engine waited too long for the assistant." };
    await scope
      .table("chats")
      .where({ id })
      .update({ errors: scope.appended("errors", entry) });
  });

type CallWork = (scope: Scope, chat: ChatRow, call: CallRow) => Promise<CallbackResult>;

/** Runs `work` for a call that is live or ended recently, one at a time across all servers. */
function withLockedCall({ scope, chat: { id } }: FoundCall, work: CallWork): Promise<CallbackResult> {
  return runInOrder(`${scope.organizationId}/${id}`, () =>
    scope.transaction(async (scope) => {
      const [chat] = await scope
        .table("chats")
        .where({ id })
        .where((current) =>
          current.whereNot({ status: "ended" }).orWhere("endedAt", ">", scope.now(-TRANSCRIPT_GRACE_MS)),
        )
        .forUpdate();
      const call = chat && (await scope.of(Calls).row(id));
      return call ? work(scope, chat, call) : IGNORED;
    }),
  );
}

/** Runs `work` for a live call, once per request body. */
const once = (found: FoundCall, body: unknown, work: (scope: Scope, call: CallRow) => Promise<void>) =>
  withLockedCall(found, async (scope, chat, call) => {
    if (chat.status === "ended") return IGNORED;
    if (!(await claim(scope, call.chatId, digestOf(body)))) return REPEATED;
    await work(scope, call);
    return APPLIED;
  });

const digestOf = (body: unknown): string => hash("sha256", JSON.stringify(body), "base64url");

const applyWithAnswer = ({ scope }: FoundCall, answer: EngineAnswer): CallbackResult => ({
  outcome: "applied",
  answer: scope.ports.voice.engine.answer(answer),
});
