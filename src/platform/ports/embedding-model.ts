import type { ModelCredential } from "./text-model";

export interface EmbeddingRequest {
  /** The vendor's name of the model. */
  readonly model: string;
  readonly credential: ModelCredential;
  readonly signal: AbortSignal;
}

/** Whatever turns texts into vectors that lie near each other where the texts mean something alike. */
export interface EmbeddingModel {
  /**
   * @returns a vector for each text, in their order
   * @throws Error when it does not answer, or answers with something that is not usable
   */
  embed(texts: readonly string[], request: EmbeddingRequest): Promise<number[][]>;
}
