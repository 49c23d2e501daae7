import type { Config } from "../config";
import { outbound } from "../outbound/http";
import type { Telephone } from "./ports";
import { twilioTelephony } from "./twilio/twilio-telephony";

const TWILIO = { api: "https://api.twilio.com", messaging: "https://messaging.twilio.com" } as const;

/** The telephony provider that the settings name. */
export function openTelephony(config: Config, publicUrl: () => string): Telephone {
  const { TWILIO_BASE_URL: base } = config;
  const hosts = base === undefined ? [] : [new URL(base).hostname.replace(/^\[|\]$/g, "")];
  const reach = outbound([...config.OUTBOUND_ALLOW, ...hosts]);
  const provider = twilioTelephony(base === undefined ? TWILIO : { api: base, messaging: base }, reach.fetch);
  return {
    provider: {
      ...provider,
      close: async () => {
        await provider.close();
        await reach.close();
      },
    },
    interceptUrl: () => `${publicUrl()}/webhooks/${config.TELEPHONY_PROVIDER}/intercept-sms`,
    patience: config.SMS_ANSWER_SECONDS * 1_000,
  };
}
