import type * as OpenAi from "@ai-sdk/openai";
import type * as Ai from "ai";
import type { EmbeddingModel, EmbeddingRequest } from "../ports/embedding-model";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { ModelFailure } from "../ports/text-model";
import { failedRequest } from "./failed-request";
import { load } from "./load";
import { modelFailure } from "./provider-error";

/** Longest vector that pgvector stores. */
const MAX_DIMENSIONS = 16_000;

const PROVIDER = "the embedding model";

/** Embeddings by OpenAI or a compatible service at a base URL. @param guardedFetch for addresses that customers chose */
export function aiSdkEmbeddings(guardedFetch: typeof fetch, answers: BoundedAnswers): EmbeddingModel {
  return {
    async embed(texts, request) {
      try {
        return await vectorsOf(texts, request, guardedFetch, answers);
      } catch (error) {
        const { model: name, credential } = request;
        const model = { id: name, channels: [], provider: PROVIDER, model: name };
        const failure = modelFailure(error, request.signal.aborted, model);
        const messages = texts.map((content) => ({ role: "user" as const, content }));
        failure.request ??= failedRequest(failure, { model, credential, system: "", messages });
        throw failure;
      }
    },
  };
}

async function vectorsOf(
  texts: readonly string[],
  { model, credential: { apiKey = "none", baseUrl: baseURL, guarded }, signal }: EmbeddingRequest,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
): Promise<number[][]> {
  const { embedMany } = load<typeof Ai>("ai");
  const vendor = load<typeof OpenAi>("@ai-sdk/openai").createOpenAI({
    apiKey,
    ...(baseURL !== undefined && { baseURL }),
    fetch: answers.fetch(guarded ? guardedFetch : fetch, PROVIDER, BOUNDS.embeddings),
  });
  const { embeddings } = await embedMany({
    model: vendor.embedding(model),
    values: [...texts],
    maxRetries: 0,
    abortSignal: signal,
  });
  if (embeddings.length !== texts.length || !embeddings.every(isUsable))
    throw new ModelFailure(
      "The embedding model answered with unusable vectors: wrong number, length or values.",
      { kind: "unusable" },
    );
  return embeddings;
}

const isUsable = (vector: readonly number[]): boolean =>
  vector.length > 0 && vector.length <= MAX_DIMENSIONS && vector.every(Number.isFinite);
