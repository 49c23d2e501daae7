import { type z } from "zod";
import { url, whole, withoutTrailingSlashes, word } from "./setting-kinds";

/** The settings of connected telephone numbers and of SMS. */
export const TELEPHONY_SETTINGS = {
  TELEPHONY_PROVIDER: [
    word.default("twilio"),
    "`twilio`",
    "Path segment of the telephony provider's callbacks.",
  ],
  TWILIO_BASE_URL: [
    url("http:", "https:").transform(withoutTrailingSlashes).optional(),
    "Twilio's",
    "Base URL to use instead of Twilio's REST APIs.",
  ],
  SMS_ANSWER_SECONDS: [
    whole(0, 14).default(8),
    "`8`",
    "Seconds to wait for the answer to a text message before telling the provider that it comes later. The provider itself waits 15 s.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;
