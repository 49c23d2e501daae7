import type { Config } from "../settings/config";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { outbound } from "../outbound/http";
import type { Voice } from "../ports/ports";
import { simulator } from "./simulator/simulator";
import { vapiEngine } from "./vapi/vapi-engine";
import type { VoiceEngine } from "../ports/voice-engine";

interface Addresses {
  /** Address of this service for clients, and for requests of the process to itself. */
  readonly publicUrl: () => string;
  readonly ownUrl: () => string;
}

const LOOPBACK = ["127.0.0.0/8", "::1", "localhost"];

/** The voice engine from the settings: Vapi, or the simulator if no API key is set. */
export function openVoice(config: Config, { publicUrl, ownUrl }: Addresses, answers: BoundedAnswers): Voice {
  const { VAPI_API_KEY: apiKey, VAPI_BASE_URL: baseUrl } = config;
  const real = apiKey !== undefined;
  const hosts = real
    ? [...config.OUTBOUND_ALLOW, new URL(baseUrl).hostname.replace(/^\[|\]$/g, "")]
    : [...LOOPBACK, config.HOST];
  const reach = outbound(hosts);
  const bounded = answers.fetch(reach.fetch, real ? "Vapi" : "the simulator", BOUNDS.voice);
  const engine = real
    ? vapiEngine(
        {
          apiKey,
          baseUrl,
          ...(config.VAPI_PHONE_NUMBER_ID !== undefined && { phoneNumberId: config.VAPI_PHONE_NUMBER_ID }),
          ...(config.VAPI_PUBLIC_KEY !== undefined && { publicKey: config.VAPI_PUBLIC_KEY }),
        },
        bounded,
      )
    : simulator({
        speed: config.SIMULATOR_SPEED,
        heartbeatMs: Math.min(5_000, config.CALL_SILENCE_SECONDS * 250),
        reach: bounded,
        recordingUrl: (id) => `${publicUrl()}/simulator/recordings/${encodeURIComponent(id)}.wav`,
      });
  return {
    engine: closing(engine, () => reach.close()),
    callbacksAt: () => `${real ? publicUrl() : ownUrl()}/rest/v1/webhooks/${config.VOICE_ENGINE}`,
    timeoutMs: config.VOICE_ENGINE_TIMEOUT_SECONDS * 1_000,
    silenceMs: config.CALL_SILENCE_SECONDS * 1_000,
    maxSeconds: config.CALL_MAX_SECONDS,
    ...(config.VOICE_ENGINE_SECRET !== undefined && { secret: config.VOICE_ENGINE_SECRET }),
    ...(config.CALL_COUNTRIES !== undefined && { countries: config.CALL_COUNTRIES }),
  };
}

const closing = (engine: VoiceEngine, close: () => Promise<void>): VoiceEngine => ({
  ...engine,
  close: async () => {
    await engine.close();
    await close();
  },
});
