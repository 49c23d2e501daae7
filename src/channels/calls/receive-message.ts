import { createHash } from "node:crypto";
import { currentDate } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { oneAtATime } from "../../chats/chats/one-at-a-time";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { EngineAnswer, EngineMessage, Said } from "../../platform/ports/voice-engine";
import { conclude, speakerOf } from "../../conversation/workflows/speaker";
import { callTools } from "./call-tools";
import { Calls, type CallRow } from "./calls";
import { claim, keepTold, WORDS_LATE } from "./claims";
import { noteHeard, type FoundCall } from "./live-call";
import { orderOf } from "./order";
import { settleTranscript } from "./settle-transcript";
import { Transcript } from "./transcript";

/** What became of a message. */
export type Outcome = "applied" | "repeated" | "ignored";
export interface Received {
  readonly outcome: Outcome;
  readonly answer?: Record<string, unknown>;
}

/** A recording is finished after its call: so long after the end it is still taken, in milliseconds. */
const RECORDING_LATE = 86_400_000;
const NO_TRANSFER = "This call can't be transferred: no destination is set.";
const APPLIED: Received = { outcome: "applied" };
const REPEATED: Received = { outcome: "repeated" };
const IGNORED: Received = { outcome: "ignored" };
const UNKNOWN = "unknown";

/** Takes what an engine tells of a call. Of an ended call only what completes it is taken: words, recording, reason. */
export async function receiveMessage(found: FoundCall, body: unknown): Promise<Received> {
  const message = found.scope.ports.voice.engine.read(body);
  const ended = found.chat.status === "ended";
  if (!ended) await noteHeard(found, body);
  switch (message.type) {
    case "transcript":
      return message.final ? keepTranscript(found, body, message) : IGNORED;
    case "conversation":
      return keepConversation(found, message.said);
    case "report":
      return keepReport(found, message);
  }
  if (ended) return IGNORED;
  switch (message.type) {
    case "status":
      return changeStatus(found, message);
    case "tool-calls":
      return callTools(found, message.calls, digestOf(body));
    case "assistant-request":
      return tellAssistant(found);
    case "transfer-request":
      return answered(found, { type: "no-transfer", message: NO_TRANSFER });
    case "hang":
      return slow(found, body);
    case "other":
      return IGNORED;
  }
}

function keepTranscript(
  found: FoundCall,
  body: unknown,
  { said, at }: EngineMessage & { type: "transcript" },
): Promise<Received> {
  const heard = { ...said, ...(at !== undefined && { at }) };
  return held(found, async (scope, chat, call) => {
    if (!(await claim(scope, chat.id, digestOf(body), heard))) return REPEATED;
    if (chat.status === "ended") await settleTranscript(scope, chat, call);
    else await new Transcript(scope, call).heard(said);
    return APPLIED;
  });
}

function keepConversation(found: FoundCall, said: readonly Said[]): Promise<Received> {
  return held(found, async (scope, chat, call) => {
    await keepTold(scope, chat.id, "conversation", said);
    if (chat.status === "ended") await settleTranscript(scope, chat, call);
    else await new Transcript(scope, call).conversation(said);
    return APPLIED;
  });
}

async function tellAssistant(found: FoundCall): Promise<Received> {
  const { scope, chat, call } = found;
  const speaker = await speakerOf(scope, chat);
  if (!("ending" in speaker))
    return answered(found, { type: "assistant", order: await orderOf(scope, speaker, call) });
  await conclude(scope, chat, speaker.ending);
  return APPLIED;
}

async function changeStatus(
  found: FoundCall,
  message: EngineMessage & { type: "status" },
): Promise<Received> {
  const { status } = message;
  if (status === "ended")
    return held(found, async (scope, chat, call) => {
      await settleTranscript(scope, chat, call); // before the end: events tell of the words first
      const reason = chat.ending ?? message.endedReason ?? UNKNOWN;
      return (await scope.of(Chats).endIfLive(chat.id, reason, false)) ? APPLIED : REPEATED;
    });
  const { scope, chat } = found;
  return scope.transaction(async (scope) => {
    if (!(await scope.of(Chats).advance(chat.id, status))) return REPEATED;
    if (status === "in-progress") await scope.of(Calls).change(chat.id, { answeredAt: currentDate() });
    return APPLIED;
  });
}

/** The report at the end: the end, if nothing told it before, and what was missing: words, recording, reason. */
async function keepReport(found: FoundCall, report: EngineMessage & { type: "report" }): Promise<Received> {
  const { recordingUrl, said, endedReason } = report;
  const completed = await held(found, async (scope, chat, call) => {
    await keepTold(scope, chat.id, "report", said);
    const settled = await settleTranscript(scope, chat, call);
    const ended = await scope.of(Chats).endIfLive(chat.id, chat.ending ?? endedReason ?? UNKNOWN, false);
    const explained = endedReason !== undefined && (await keepReason(scope, chat.id, endedReason));
    return settled || ended || explained ? APPLIED : REPEATED;
  });
  if (recordingUrl === undefined) return completed;
  const recorded = await found.scope.transaction((scope) =>
    keepRecording(scope, found.chat.id, recordingUrl),
  );
  return recorded ? APPLIED : completed;
}

/** Why the call ended, if it ended without a reason. */
async function keepReason(scope: Scope, id: string, endedReason: string): Promise<boolean> {
  const unexplained = scope.table("chats").where({ id, status: "ended", endedReason: UNKNOWN });
  const changed = await unexplained.update({ endedReason, counted: false });
  if (changed > 0) {
    await scope.table("conversation_facts_kept").where({ chatId: id }).delete();
    await scope.storeEntry(); // no event tells of it
  }
  return changed > 0 && endedReason !== UNKNOWN;
}

async function keepRecording(scope: Scope, id: string, recordingUrl: string): Promise<boolean> {
  const [chat] = await scope
    .table("chats")
    .where({ id, status: "ended" })
    .where("endedAt", ">", currentDate(-RECORDING_LATE))
    .whereNull("recordingUrl")
    .update({ recordingUrl })
    .returning("*");
  if (chat) await scope.of(Events).recordingAvailable(chat, recordingUrl);
  return chat !== undefined;
}

/** The engine waited for the assistant: the log tells. */
const slow = (found: FoundCall, body: unknown): Promise<Received> =>
  once(found, body, async (scope, { chatId: id }) => {
    const entry = { at: currentDate(), message: "The voice engine waited too long for the assistant." };
    await scope
      .table("chats")
      .where({ id })
      .update({ errors: scope.appended("errors", entry) });
  });

type Work = (scope: Scope, chat: ChatRow, call: CallRow) => Promise<Received>;

/**
 * Does `work` for a call that is live, or that ended a short while ago, one after another over all servers; each sees
 * what those before it stored.
 */
function held({ scope, chat: { id } }: FoundCall, work: Work): Promise<Received> {
  return oneAtATime(`${scope.organizationId}/${id}`, () =>
    scope.transaction(async (scope) => {
      const [chat] = await scope
        .table("chats")
        .where({ id })
        .where((current) =>
          current.whereNot({ status: "ended" }).orWhere("endedAt", ">", scope.now(-WORDS_LATE)),
        )
        .forUpdate();
      const call = chat && (await scope.of(Calls).row(id));
      return call ? work(scope, chat, call) : IGNORED;
    }),
  );
}

/** Does `work` for a live call, once for the same body. */
const once = (found: FoundCall, body: unknown, work: (scope: Scope, call: CallRow) => Promise<void>) =>
  held(found, async (scope, chat, call) => {
    if (chat.status === "ended") return IGNORED;
    if (!(await claim(scope, call.chatId, digestOf(body)))) return REPEATED;
    await work(scope, call);
    return APPLIED;
  });

const digestOf = (body: unknown): string =>
  createHash("sha256").update(JSON.stringify(body)).digest("base64url");

const answered = ({ scope }: FoundCall, answer: EngineAnswer): Received => ({
  outcome: "applied",
  answer: scope.ports.voice.engine.answer(answer),
});
