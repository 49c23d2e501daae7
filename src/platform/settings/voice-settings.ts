import { z } from "zod";
import { list, url, whole, withoutTrailingSlashes, word } from "./setting-kinds";

/** The settings of telephone calls. */
export const VOICE_SETTINGS = {
  VOICE_ENGINE: [word.default("vapi"), "`vapi`", "Path segment of the voice engine's callbacks."],
  VAPI_API_KEY: [
    z.string().min(1).optional(),
    "a simulator plays the calls",
    "Private key of Vapi, which then makes the calls.",
  ],
  VAPI_BASE_URL: [
    url("http:", "https:").default("https://api.vapi.ai").transform(withoutTrailingSlashes),
    "`https://api.vapi.ai`",
    "Address of Vapi's REST API.",
  ],
  VAPI_PHONE_NUMBER_ID: [
    z.string().min(1).optional(),
    "none",
    "Id at Vapi of the number to call from where an organization has connected none of its own.",
  ],
  VAPI_PUBLIC_KEY: [
    z.string().min(1).optional(),
    "calls from web pages are held on a page of the widget",
    "Public key of Vapi, which then holds calls from web pages.",
  ],
  VOICE_ENGINE_SECRET: [
    z
      .string()
      .regex(/^[\x21-\x7e]{16,200}$/, "must be 16 to 200 printable characters without spaces")
      .optional(),
    "a random one for each call",
    "What the voice engine proves itself with in its callbacks, in the header `X-Vapi-Secret`.",
  ],
  VOICE_ENGINE_TIMEOUT_SECONDS: [
    whole(1, 300).default(20),
    "`20`",
    "How long the voice engine may take to answer that it dials; a call without that answer is looked for there before it is tried again.",
  ],
  CALL_COUNTRIES: [
    list
      .transform((codes) => codes.map((code) => code.toUpperCase()))
      .refine((codes) => codes.every((code) => /^[A-Z]{2}$/.test(code)), {
        error: "must be country codes of two letters (ISO 3166-1), separated by commas",
      })
      .optional(),
    "the country of the number called from; any where none is connected",
    "Countries whose numbers may be called, such as `US,CA`.",
  ],
  CALL_MAX_SECONDS: [whole(1, 43_200).default(3_600), "`3600`", "How long a call may last."],
  CALL_SILENCE_SECONDS: [
    whole(1, 3_600).default(60),
    "`60`",
    "After how long without a callback the voice engine is asked whether a call still stands; one that it does not know is ended.",
  ],
  SIMULATOR_SPEED: [
    z
      .string()
      .regex(/^\d+(\.\d+)?$/, "must be a number")
      .transform(Number)
      .refine((speed) => speed > 0 && speed <= 100_000, { error: "must be above 0, at most 100000" })
      .default(1),
    "`1`",
    "How many times faster than real time simulated calls are.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;
