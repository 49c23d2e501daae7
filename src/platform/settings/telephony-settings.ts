import { type z } from "zod";
import { url, whole, withoutTrailingSlashes, word } from "./setting-kinds";

/** The settings of connected telephone numbers and of SMS. */
export const TELEPHONY_SETTINGS = {
  TELEPHONY_PROVIDER: [word.default("twilio"), "`twilio`", "Path segment of the SMS intercept."],
  TWILIO_BASE_URL: [
    url("http:", "https:").transform(withoutTrailingSlashes).optional(),
    "Twilio's own",
    "Address to ask instead of Twilio's REST APIs.",
  ],
  SMS_ANSWER_SECONDS: [
    whole(0, 14).default(8),
    "`8`",
    "How long an SMS waits for its answer before the provider is told that it comes later; the provider itself waits 15 s.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;
