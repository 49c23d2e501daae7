import type { ModelEntry } from "../catalog/load-catalog";

/** What a request to a model was for. */
export type ModelPurpose = "answer" | "quick_replies" | "embedding";

export interface FailedAnswer {
  readonly purpose: ModelPurpose;
  readonly organizationId: string;
  readonly chatId?: string;
}

/** Reports to the operator whether models answer. */
export interface ModelReports {
  answered(model: Pick<ModelEntry, "id" | "model">, purpose: ModelPurpose): void;
  /** @param error a ModelFailure, or the error that kept the model from being asked */
  failed(error: unknown, about: FailedAnswer): void;
}
