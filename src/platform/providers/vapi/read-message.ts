import type { EngineMessage, EngineStatus, Utterance, ToolCall } from "../../ports/voice-engine";

type Json = Readonly<Record<string, unknown>>;

const STATUSES: readonly unknown[] = ["queued", "ringing", "in-progress", "forwarding", "ended"];
const ROLES = new Map<unknown, Utterance["role"]>([
  ["user", "USER"],
  ["assistant", "ASSISTANT"],
  ["bot", "ASSISTANT"],
]);
const MAX_TEXT_LENGTH = 1_048_576;
/** Longest id, number or other short value. */
const MAX_WORD_LENGTH = 255;

const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** Shortens a text and removes characters that PostgreSQL cannot store; "" for anything but text. */
const text = (value: unknown, maxLength = MAX_TEXT_LENGTH): string =>
  typeof value === "string" ? value.slice(0, maxLength).replaceAll("\0", "").toWellFormed() : "";
const word = (value: unknown): string | undefined => text(value, MAX_WORD_LENGTH) || undefined;

/** Reads a request to Vapi's server URL: `{message: {type, …}}`. Unknown messages become `other`. */
export function readMessage(body: unknown): EngineMessage {
  const message = object(object(body).message);
  const name = text(message.type, MAX_WORD_LENGTH);
  // With a subscription to final transcripts only, the type is `transcript[transcriptType="final"]`.
  switch (name.startsWith("transcript[") ? "transcript" : name) {
    case "status-update":
      return STATUSES.includes(message.status)
        ? { type: "status", status: message.status as EngineStatus, ...reasonOf(message) }
        : { type: "other" };
    case "transcript":
      return readTranscript(message, name);
    case "conversation-update":
      return { type: "conversation", said: conversationOf(message) };
    case "tool-calls":
      return { type: "tool-calls", calls: toolCallsOf(message) };
    case "end-of-call-report": {
      const artifact = object(message.artifact);
      const recordingUrl = recordingOf(message, artifact);
      const said = conversationOf(artifact);
      return {
        type: "report",
        said,
        ...reasonOf(message),
        ...(recordingUrl !== undefined && { recordingUrl }),
      };
    }
    case "assistant-request":
      return readAssistantRequest(message);
    case "transfer-destination-request":
      return { type: "transfer-request" };
    case "hang":
      return { type: "hang" };
    default:
      return { type: "other" };
  }
}

/** The ids of the call in a callback or a request for a completion. */
export function namesOf(body: unknown): { callId?: string; engineCallId?: string } {
  const message = object(object(body).message ?? body);
  const call = object(message.call);
  const tagged = [message, message.assistant, call.assistant].map(
    (one) => object(object(one).metadata).parleyCallId,
  );
  const callId = [...tagged, call.name].map(word).find((id) => id !== undefined);
  const engineCallId = word(call.id);
  return { ...(callId !== undefined && { callId }), ...(engineCallId !== undefined && { engineCallId }) };
}

function readAssistantRequest(message: Json): EngineMessage {
  const call = object(message.call);
  const numberOf = (party: "phoneNumber" | "customer") =>
    word(object(message[party]).number) ?? word(object(call[party]).number);
  const [calledNumber, callerNumber] = [numberOf("phoneNumber"), numberOf("customer")];
  return {
    type: "assistant-request",
    ...(calledNumber !== undefined && { calledNumber }),
    ...(callerNumber !== undefined && { callerNumber }),
  };
}

function readTranscript(message: Json, name: string): EngineMessage {
  const role = ROLES.get(message.role);
  const said = text(message.transcript).trim();
  if (!role || said === "") return { type: "other" };
  const final = message.transcriptType === "final" || name.includes('"final"');
  const at = timeIn(message.timestamp);
  return { type: "transcript", said: { role, text: said }, final, ...(at !== undefined && { at }) };
}

/** Time in ms since 1970, from a number or a date; undefined for anything else. */
function timeIn(value: unknown): number | undefined {
  const at = typeof value === "number" ? value : Date.parse(word(value) ?? "");
  return Number.isFinite(at) ? at : undefined;
}

/** The transcript, from either of Vapi's two formats. */
function conversationOf({ messages, messagesOpenAIFormatted }: Json): Utterance[] {
  const formatted = list(messagesOpenAIFormatted);
  return (formatted.length > 0 ? formatted : list(messages)).flatMap((item) => {
    const { role, content, message } = object(item);
    const said = text(content ?? message).trim();
    const known = ROLES.get(role);
    return known && said !== "" ? [{ role: known, text: said }] : [];
  });
}

function toolCallsOf({ toolCallList, toolCalls }: Json): ToolCall[] {
  return list(toolCallList ?? toolCalls).flatMap((item) => {
    const call = object(item);
    const declared = object(call.function);
    const id = word(call.id);
    const name = word(declared.name ?? call.name);
    if (id === undefined || name === undefined) return [];
    return [{ id, name, arguments: parseArguments(declared.arguments ?? call.arguments ?? call.parameters) }];
  });
}

function parseArguments(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  try {
    return JSON.parse(value);
  } catch {
    return value; // refused later by the check of arguments
  }
}

const reasonOf = ({ endedReason }: Json): { endedReason?: string } => {
  const reason = word(endedReason);
  return reason === undefined ? {} : { endedReason: reason };
};

function recordingOf(message: Json, artifact: Json): string | undefined {
  const recording = object(artifact.recording);
  const candidates = [
    artifact.recordingUrl,
    object(recording.mono).combinedUrl,
    recording.stereoUrl,
    message.recordingUrl,
  ];
  return candidates
    .map((url) => text(url, 2_048))
    .find((url) => URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol));
}
