import type { CallOrder, SpokenAssistant } from "../../ports/voice-engine";

type Json = Record<string, unknown>;

/** Limits of Vapi's published API; lengths in characters. */
const MAX_NAME_LENGTH = 40;
const MAX_MESSAGE_LENGTH = 1_000;
const PHRASE_LENGTH = { min: 2, max: 140 } as const;
const TOKENS = { min: 50, max: 10_000 } as const;
const CALL_SECONDS = { min: 10, max: 43_200 } as const;
/** Retries of a failed callback, after 1, 2, 4 … seconds. */
const CALLBACK_RETRIES = 5;
const CALLBACK_TIMEOUT_SECONDS = 20;
const MODEL_TIMEOUT_SECONDS = 60;

const VOICE_VENDORS: Readonly<Record<string, string>> = {
  ELEVENLABS: "11labs",
  PLAYHT: "playht",
  OPENAI: "openai",
};

/** Callbacks that this service subscribes to. Only final transcripts, so that each sentence is logged once. */
const SERVER_MESSAGES = [
  "status-update",
  'transcript[transcriptType="final"]',
  "tool-calls",
  "transfer-destination-request",
  "end-of-call-report",
  "hang",
];

const clamp = (value: number, from: number, to: number) => Math.min(Math.max(value, from), to);
/** Shortens text to `maxLength` UTF-16 units without splitting a character. */
export const cut = (text: string, maxLength: number = MAX_NAME_LENGTH): string =>
  text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");

/** The assistant of one call in Vapi's format; its answers come from this service. */
export function assistantOf({ callId, assistant, callbacks, maxSeconds }: CallOrder): Json {
  const { greeting, endCallMessage, endCallPhrases, backgroundSound, backchanneling } = assistant;
  const phrases = endCallPhrases
    .filter((phrase) => phrase.length >= PHRASE_LENGTH.min)
    .map((phrase) => cut(phrase, PHRASE_LENGTH.max));
  return {
    name: cut(assistant.name),
    ...(greeting === ""
      ? { firstMessageMode: "assistant-waits-for-user" }
      : { firstMessage: greeting, firstMessageMode: "assistant-speaks-first" }),
    model: modelOf(assistant, callbacks),
    voice: {
      provider: VOICE_VENDORS[assistant.voiceProvider] ?? assistant.voiceProvider.toLowerCase(),
      voiceId: assistant.voice,
    },
    ...(backgroundSound !== "DEFAULT" && { backgroundSound: backgroundSound.toLowerCase() }),
    ...(endCallMessage !== "" && { endCallMessage: cut(endCallMessage, MAX_MESSAGE_LENGTH) }),
    ...(phrases.length > 0 && { endCallPhrases: phrases }),
    maxDurationSeconds: clamp(maxSeconds, CALL_SECONDS.min, CALL_SECONDS.max),
    voicemailDetection: { provider: "vapi" },
    monitorPlan: { controlEnabled: true, listenEnabled: false },
    server: {
      url: callbacks.messagesUrl,
      headers: { ...callbacks.headers },
      timeoutSeconds: CALLBACK_TIMEOUT_SECONDS,
      backoffPlan: { type: "exponential", maxRetries: CALLBACK_RETRIES, baseDelaySeconds: 1 },
    },
    serverMessages: SERVER_MESSAGES,
    // Vapi's API no longer has a setting for backchanneling; the metadata records ours.
    metadata: { parleyCallId: callId, backchanneling },
  };
}

function modelOf(assistant: SpokenAssistant, { modelUrl, headers }: CallOrder["callbacks"]): Json {
  const { functions, endCallFunction, dialKeypadFunction, prompt } = assistant;
  const tools = [
    ...functions.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
    ...(endCallFunction ? [{ type: "endCall" }] : []),
    ...(dialKeypadFunction ? [{ type: "dtmf" }] : []),
  ];
  return {
    provider: "custom-llm",
    url: modelUrl,
    headers: { ...headers },
    model: assistant.model,
    messages: [{ role: "system", content: prompt }],
    ...(tools.length > 0 && { tools }),
    temperature: assistant.temperature,
    maxTokens: clamp(assistant.maxTokens, TOKENS.min, TOKENS.max),
    metadataSendMode: "variable",
    timeoutSeconds: MODEL_TIMEOUT_SECONDS,
  };
}
