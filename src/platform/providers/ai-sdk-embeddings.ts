import type * as OpenAi from "@ai-sdk/openai";
import type * as Ai from "ai";
import type { EmbeddingModel } from "../ports/embedding-model";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { load } from "./load";

/** Longest vector that pgvector stores. */
const MAX_DIMENSIONS = 16_000;

/** Embeddings by OpenAI or a compatible service at a base URL. @param guardedFetch for addresses that customers chose */
export function aiSdkEmbeddings(guardedFetch: typeof fetch, answers: BoundedAnswers): EmbeddingModel {
  return {
    async embed(texts, { model, credential: { apiKey = "none", baseUrl: baseURL, guarded }, signal }) {
      const { embedMany } = load<typeof Ai>("ai");
      const vendor = load<typeof OpenAi>("@ai-sdk/openai").createOpenAI({
        apiKey,
        ...(baseURL !== undefined && { baseURL }),
        fetch: answers.fetch(guarded ? guardedFetch : fetch, "the embedding model", BOUNDS.embeddings),
      });
      const { embeddings } = await embedMany({
        model: vendor.embedding(model),
        values: [...texts],
        maxRetries: 0,
        abortSignal: signal,
      });
      if (embeddings.length !== texts.length || !embeddings.every(isUsable))
        throw new Error(
          "The embedding model answered with unusable vectors: wrong number, length or values.",
        );
      return embeddings;
    },
  };
}

const isUsable = (vector: readonly number[]): boolean =>
  vector.length > 0 && vector.length <= MAX_DIMENSIONS && vector.every(Number.isFinite);
