import { createHash } from "node:crypto";
import { currentDate } from "../clock";
import { Chats, type ChatRow } from "../chats/chats";
import { oneAtATime } from "../chats/one-at-a-time";
import type { Scope } from "../database/scope";
import { Events } from "../events/events";
import type { EngineAnswer, EngineMessage } from "../ports/voice-engine";
import { conclude, speakerOf } from "../workflows/speaker";
import { callTools } from "./call-tools";
import { Calls, type CallRow } from "./calls";
import { claim } from "./claims";
import { noteHeard, type FoundCall } from "./live-call";
import { orderOf } from "./order";
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
const IGNORED: Received = { outcome: "ignored" };

/** Takes what an engine tells of a call. Of an ended call nothing is taken but its recording. */
export async function receiveMessage(found: FoundCall, body: unknown): Promise<Received> {
  const message = found.scope.ports.voice.engine.read(body);
  if (found.chat.status === "ended") return message.type === "report" ? keepReport(found, message) : IGNORED;
  await noteHeard(found, body);
  switch (message.type) {
    case "status":
      return changeStatus(found, message);
    case "transcript":
      return message.final
        ? once(found, body, (scope, call) => new Transcript(scope, call).heard(message.said))
        : IGNORED;
    case "conversation":
      return locked(found, async (scope, call) => new Transcript(scope, call).conversation(message.said));
    case "report":
      return keepReport(found, message);
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
  const { scope, chat } = found;
  return scope.transaction(async (scope) => {
    const chats = scope.of(Chats);
    const { status } = message;
    const moved =
      status === "ended"
        ? await chats.endIfLive(chat.id, chat.ending ?? message.endedReason ?? "unknown", false)
        : await chats.advance(chat.id, status);
    if (!moved) return { outcome: "repeated" };
    if (status === "in-progress") await scope.of(Calls).change(chat.id, { answeredAt: currentDate() });
    return APPLIED;
  });
}

/** The report at the end: the end, where nothing told it before, and the recording. */
async function keepReport(found: FoundCall, report: EngineMessage & { type: "report" }): Promise<Received> {
  const { scope, chat } = found;
  const { recordingUrl, said } = report;
  const endedReason = chat.ending ?? report.endedReason ?? "unknown";
  await locked(found, (scope, call) => new Transcript(scope, call).conversation(said));
  return scope.transaction(async (scope) => {
    const ended = await scope.of(Chats).endIfLive(chat.id, endedReason, false);
    const recorded = recordingUrl !== undefined && (await keepRecording(scope, chat.id, recordingUrl));
    return ended || recorded ? APPLIED : { outcome: "repeated" };
  });
}

async function keepRecording(scope: Scope, id: string, recordingUrl: string): Promise<boolean> {
  const [chat] = (await scope
    .table("chats")
    .where({ id, status: "ended" })
    .where("endedAt", ">", currentDate(-RECORDING_LATE))
    .whereNull("recordingUrl")
    .update({ recordingUrl })
    .returning("*")) as ChatRow[];
  if (chat) await scope.of(Events).recorded(chat, recordingUrl);
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

type Work = (scope: Scope, call: CallRow) => Promise<void>;

/** Does `work` for a live call, one after another over all servers; each sees what those before it stored. */
function locked({ scope, chat }: FoundCall, work: Work): Promise<Received> {
  return oneAtATime(`${scope.organizationId}/${chat.id}`, () =>
    scope.transaction(async (scope) => {
      const live = scope
        .table("chats")
        .select("id")
        .where({ id: chat.id })
        .whereNot({ status: "ended" })
        .forUpdate();
      const [row] = (await live) as unknown[];
      const call = row === undefined ? undefined : await scope.of(Calls).row(chat.id);
      if (!call) return IGNORED;
      await work(scope, call);
      return APPLIED;
    }),
  );
}

/** The same, once for the same body. */
async function once(found: FoundCall, body: unknown, work: Work): Promise<Received> {
  let repeated = false;
  const received = await locked(found, async (scope, call) => {
    repeated = !(await claim(scope, call.chatId, digestOf(body)));
    if (!repeated) await work(scope, call);
  });
  return repeated ? { outcome: "repeated" } : received;
}

const digestOf = (body: unknown): string =>
  createHash("sha256").update(JSON.stringify(body)).digest("base64url");

const answered = ({ scope }: FoundCall, answer: EngineAnswer): Received => ({
  outcome: "applied",
  answer: scope.ports.voice.engine.answer(answer),
});
