import { z } from "zod";
import { list, url, whole, withoutTrailingSlashes, word } from "./setting-kinds";

/** The settings of telephone calls. */
export const VOICE_SETTINGS = {
  VOICE_ENGINE: [word.default("vapi"), "`vapi`", "Path segment of the voice engine's callbacks."],
  VAPI_API_KEY: [
    z.string().min(1).optional(),
    "calls are simulated",
    "Private key of Vapi. If set, Vapi makes the calls.",
  ],
  VAPI_BASE_URL: [
    url("http:", "https:").default("https://api.vapi.ai").transform(withoutTrailingSlashes),
    "`https://api.vapi.ai`",
    "Base URL of Vapi's REST API.",
  ],
  VAPI_PHONE_NUMBER_ID: [
    z.string().min(1).optional(),
    "none",
    "Vapi's id of the number to call from if the organization has not connected its own.",
  ],
  VAPI_PUBLIC_KEY: [
    z.string().min(1).optional(),
    "calls from web pages run on a page of the widget",
    "Public key of Vapi. If set, Vapi runs calls from web pages.",
  ],
  VOICE_ENGINE_SECRET: [
    z
      .string()
      .regex(/^[\x21-\x7e]{16,200}$/, "must be 16 to 200 printable characters without spaces")
      .optional(),
    "a random secret per call",
    "Secret by which the voice engine authenticates its callbacks, in the header `X-Vapi-Secret`.",
  ],
  VOICE_ENGINE_TIMEOUT_SECONDS: [
    whole(1, 300).default(20),
    "`20`",
    "Seconds that the voice engine may take to accept a call. A call without an answer is looked up at the engine before it is retried.",
  ],
  CALL_COUNTRIES: [
    list
      .transform((codes) => codes.map((code) => code.toUpperCase()))
      .refine((codes) => codes.every((code) => /^[A-Z]{2}$/.test(code)), {
        error: "must be country codes of two letters (ISO 3166-1), separated by commas",
      })
      .optional(),
    "the country of the calling number; any country if no number is connected",
    "Countries that may be called, such as `US,CA`.",
  ],
  CALL_MAX_SECONDS: [whole(1, 43_200).default(3_600), "`3600`", "Maximum duration of a call, in seconds."],
  CALL_SILENCE_SECONDS: [
    whole(1, 3_600).default(60),
    "`60`",
    "Seconds without a callback after which the voice engine is asked whether a call is still live. A call that it does not know is ended.",
  ],
  SIMULATOR_SPEED: [
    z
      .string()
      .regex(/^\d+(\.\d+)?$/, "must be a number")
      .transform(Number)
      .refine((speed) => speed > 0 && speed <= 100_000, { error: "must be above 0, at most 100000" })
      .default(1),
    "`1`",
    "Speed of simulated calls; 1 is real time.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;
