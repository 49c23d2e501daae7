import type { Config } from "../settings/config";
import type { BoundedAnswers } from "../outbound/bounds";
import { aiSdkEmbeddings } from "./ai-sdk-embeddings";
import type { Embeddings } from "../ports/ports";

type Settings = Pick<Config, "EMBEDDING_MODEL" | "EMBEDDING_API_KEY" | "EMBEDDING_BASE_URL">;

/** The embedding model from the settings; undefined if they turn embeddings off. */
export function openEmbeddings(
  settings: Settings,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
): Embeddings | undefined {
  const { EMBEDDING_MODEL: model, EMBEDDING_API_KEY: apiKey, EMBEDDING_BASE_URL: baseUrl } = settings;
  if (model === "off") return undefined;
  const credential = {
    guarded: false,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
  const own = apiKey === undefined && baseUrl === undefined ? {} : { credential };
  return { model, remote: aiSdkEmbeddings(guardedFetch, answers), ...own };
}
