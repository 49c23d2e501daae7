import type { Config } from "../settings/config";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { outbound } from "../outbound/http";
import type { Telephone } from "../ports/ports";
import { twilioTelephony } from "./twilio/twilio-telephony";

const TWILIO = { api: "https://api.twilio.com", messaging: "https://messaging.twilio.com" } as const;

/** The telephony provider from the settings. */
export function openTelephony(config: Config, publicUrl: () => string, answers: BoundedAnswers): Telephone {
  const { TWILIO_BASE_URL: base } = config;
  const hosts = base === undefined ? [] : [new URL(base).hostname.replace(/^\[|\]$/g, "")];
  const reach = outbound([...config.OUTBOUND_ALLOW, ...hosts]);
  const addresses = base === undefined ? TWILIO : { api: base, messaging: base };
  const provider = twilioTelephony(addresses, answers.fetch(reach.fetch, "Twilio", BOUNDS.telephony));
  return {
    provider: {
      ...provider,
      close: async () => {
        await provider.close();
        await reach.close();
      },
    },
    interceptUrl: () => `${publicUrl()}/webhooks/${config.TELEPHONY_PROVIDER}/intercept-sms`,
    statusUrl: () => `${publicUrl()}/webhooks/${config.TELEPHONY_PROVIDER}/sms-status`,
    reportsDelivery: config.PUBLIC_BASE_URL !== undefined,
    answerTimeoutMs: config.SMS_ANSWER_SECONDS * 1_000,
  };
}
