import type { CallOrder, SpokenAssistant } from "../../ports/voice-engine";

type Json = Record<string, unknown>;

/** Bounds of Vapi's published API. */
const NAME = 40;
const MESSAGE = 1_000;
const PHRASE = { shortest: 2, longest: 140 } as const;
const TOKENS = { fewest: 50, most: 10_000 } as const;
const SECONDS = { shortest: 10, longest: 43_200 } as const;
/** How often a callback that was not taken is sent again, after 1, 2, 4 … seconds. */
const RETRIES = 5;
const SERVER_TIMEOUT = 20;
const MODEL_TIMEOUT = 60;

const VOICE_VENDORS: Readonly<Record<string, string>> = {
  ELEVENLABS: "11labs",
  PLAYHT: "playht",
  OPENAI: "openai",
};

/** What this service wants to be told. Of transcripts the finished ones: what was said stands in the log once. */
const MESSAGES = [
  "status-update",
  'transcript[transcriptType="final"]',
  "tool-calls",
  "transfer-destination-request",
  "end-of-call-report",
  "hang",
];

const clamp = (value: number, from: number, to: number) => Math.min(Math.max(value, from), to);
/** At most this many characters, none of them cut in two. */
export const cut = (text: string, longest: number = NAME): string =>
  text.slice(0, longest).replace(/[\ud800-\udbff]$/, "");

/** An assistant of one call, in the words of Vapi's API; its answers come from us. */
export function assistantOf({ callId, assistant, callbacks, maxSeconds }: CallOrder): Json {
  const { greeting, endCallMessage, endCallPhrases, backgroundSound, backchanneling } = assistant;
  const phrases = endCallPhrases
    .filter((phrase) => phrase.length >= PHRASE.shortest)
    .map((phrase) => cut(phrase, PHRASE.longest));
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
    ...(endCallMessage !== "" && { endCallMessage: cut(endCallMessage, MESSAGE) }),
    ...(phrases.length > 0 && { endCallPhrases: phrases }),
    maxDurationSeconds: clamp(maxSeconds, SECONDS.shortest, SECONDS.longest),
    voicemailDetection: { provider: "vapi" },
    monitorPlan: { controlEnabled: true, listenEnabled: false },
    server: {
      url: callbacks.messagesUrl,
      headers: { ...callbacks.headers },
      timeoutSeconds: SERVER_TIMEOUT,
      backoffPlan: { type: "exponential", maxRetries: RETRIES, baseDelaySeconds: 1 },
    },
    serverMessages: MESSAGES,
    // Vapi decides by itself when to make listening sounds: its API has no switch for them any more.
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
    maxTokens: clamp(assistant.maxTokens, TOKENS.fewest, TOKENS.most),
    metadataSendMode: "variable",
    timeoutSeconds: MODEL_TIMEOUT,
  };
}
