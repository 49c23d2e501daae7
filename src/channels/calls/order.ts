import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import { toolsOf } from "../../conversation/functions/functions";
import { addTools, MAX_AGE_MS, serverTools } from "../../conversation/functions/server-tools";
import { fill, valuesOf } from "../../conversation/functions/variables";
import type { Scope } from "../../platform/database/scope";
import type { CallOrder, Callbacks, SpokenAssistant } from "../../platform/ports/voice-engine";
import type { Speaker } from "../../conversation/workflows/speaker";
import { Calls, type CallRow } from "./calls";
import { openSecret } from "./secrets";

/** Header that carries a call's secret in every callback. */
export const SECRET_HEADER = "x-vapi-secret";
/** Header that names the call if one secret serves all calls. */
export const CALL_HEADER = "x-parley-call";

const NOT_BUILT_IN = { endCallFunction: false, dialKeypadFunction: false };
const PHRASES = /[,\n]/;

/** The request that describes a call to the engine. @param speaker the assistant that speaks first */
export async function orderOf(scope: Scope, speaker: Speaker, call: CallRow): Promise<CallOrder> {
  const { voice } = scope.ports;
  const { chat, position } = speaker;
  if (position) await scope.of(Calls).change(chat.id, { spoken: position.metadata });
  return {
    callId: chat.id,
    assistant: await spokenAssistant(scope, speaker),
    callbacks: callbacksOf(scope, call),
    maxSeconds: voice.maxSeconds,
    metadata: chat.metadata,
  };
}

function callbacksOf(scope: Scope, { chatId, sealedSecret }: CallRow): Callbacks {
  const { voice } = scope.ports;
  const at = voice.callbacksAt();
  const secret = voice.secret ?? openSecret(scope, chatId, sealedSecret);
  return {
    messagesUrl: `${at}/server-messages`,
    modelUrl: `${at}/custom-llm`,
    headers: { [SECRET_HEADER]: secret, [CALL_HEADER]: chatId },
  };
}

/** The voice configuration of the assistant that speaks first, with the call's variables filled in. */
async function spokenAssistant(
  scope: Scope,
  { chat, assistant, position }: Speaker,
): Promise<SpokenAssistant> {
  const configuration = await scope.of(PinnedAssistants).configuration("voice", assistant);
  const values = valuesOf(chat.variables, assistant);
  const { endCallFunction, dialKeypadFunction, backgroundSound, endCallPhrases } = configuration;
  return {
    name: assistant.name,
    greeting: fill(configuration.initialMessage, values).trim(),
    prompt: fill(configuration.prompt, values),
    model: configuration.model,
    temperature: configuration.temperature,
    maxTokens: configuration.maxTokensOutput,
    voiceProvider: configuration.voiceProvider,
    voice: ownVoiceId(scope, configuration.voice),
    // The engine implements the built-in functions itself.
    functions: addTools(
      await toolsOf(scope, { ...configuration, ...NOT_BUILT_IN }, values),
      await serverTools(scope, assistant, MAX_AGE_MS.atStart),
    ).all,
    // A workflow ends a call by calling this function.
    endCallFunction: endCallFunction || position !== undefined,
    dialKeypadFunction,
    // A workflow's closing words come from its own nodes.
    endCallMessage: position ? "" : configuration.endCallMessage.trim(),
    endCallPhrases: endCallPhrases
      .split(PHRASES)
      .map((phrase) => phrase.trim())
      .filter(Boolean),
    backgroundSound: backgroundSound as SpokenAssistant["backgroundSound"], // the table allows no other
    backchanneling: configuration.backchanneling,
  };
}

/** The vendor's own id of a voice. */
const ownVoiceId = ({ ports }: Scope, voice: string): string =>
  ports.catalog.voices.find(({ id }) => id === voice)?.voiceId ?? voice;
