import type { ModelCredential } from "./text-model";

export interface EmbeddingRequest {
  /** The vendor's name for the model. */
  readonly model: string;
  readonly credential: ModelCredential;
  readonly signal: AbortSignal;
}

/** Turns texts into vectors; texts of similar meaning have vectors close to each other. */
export interface EmbeddingModel {
  /**
   * @returns a vector for each text, in the order of the texts
   * @throws Error if the model does not answer or its answer is not usable
   */
  embed(texts: readonly string[], request: EmbeddingRequest): Promise<number[][]>;
}
