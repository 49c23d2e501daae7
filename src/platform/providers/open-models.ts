import type { Config } from "../settings/config";
import type { BoundedAnswers } from "../outbound/bounds";
import { aiSdkModel, type ReportUnknownModel } from "./ai-sdk-model";
import { localModel } from "./local-model";
import type { Models } from "../ports/ports";

type Settings = Pick<
  Config,
  | "OPENAI_API_KEY"
  | "OPENAI_BASE_URL"
  | "GROQ_API_KEY"
  | "GROQ_BASE_URL"
  | "ANTHROPIC_API_KEY"
  | "ANTHROPIC_BASE_URL"
  | "MODEL_TIMEOUT_SECONDS"
>;

/** The text models, with the credentials from the settings. */
export function openModels(
  settings: Settings,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
  report?: ReportUnknownModel,
): Models {
  const given = (apiKey: string | undefined, baseUrl: string | undefined) => ({
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
  });
  return {
    remote: aiSdkModel(guardedFetch, answers, report),
    local: localModel,
    timeoutMs: settings.MODEL_TIMEOUT_SECONDS * 1_000,
    credentials: {
      OPENAI: given(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL),
      GROQ: given(settings.GROQ_API_KEY, settings.GROQ_BASE_URL),
      ANTHROPIC: given(settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL),
    },
  };
}
