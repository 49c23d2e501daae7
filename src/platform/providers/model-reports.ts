import type { Logger } from "pino";
import { FailureCount } from "../failure-count";
import type { FailedAnswer, ModelPurpose, ModelReports as Reports } from "../ports/model-reports";
import type { ModelEntry } from "../catalog/load-catalog";
import { ModelFailure } from "../ports/text-model";

/** Labels of one outcome for the metrics. */
export interface Outcome {
  /** Identifier of the catalog; empty if the failure happened before a model was chosen. */
  readonly model: string;
  /** Name of the model at its server; `other` if more than MAX_NAMES occur, as organizations choose names. */
  readonly modelName: string;
  readonly purpose: ModelPurpose;
  /** `ok`, a kind of failure, or `internal`. */
  readonly outcome: string;
}
export type Count = (outcome: Outcome) => void;

/** Each name makes further series of the metric. */
const MAX_NAMES = 100;

/** Counts outcomes, and logs failures: at most one line per minute for each model, kind and purpose. */
export class ModelReports implements Reports {
  private readonly failures: FailureCount;
  private readonly names = new Set<string>();

  constructor(
    private readonly logger: Pick<Logger, "error" | "warn"> = {
      error: () => undefined,
      warn: () => undefined,
    },
    private readonly count: Count = () => undefined,
    now?: () => number,
  ) {
    this.failures = new FailureCount(now);
  }

  answered({ id, model }: Pick<ModelEntry, "id" | "model">, purpose: ModelPurpose): void {
    this.count({ model: id, modelName: this.counted(model), purpose, outcome: "ok" });
  }

  failed(error: unknown, { purpose, ...ids }: FailedAnswer): void {
    const request = error instanceof ModelFailure ? error.request : undefined;
    const kind = request ? (error as ModelFailure).kind : "internal";
    const { id: identifier, provider, model } = request?.model ?? {};
    this.count({ model: identifier ?? "", modelName: this.counted(model ?? ""), purpose, outcome: kind });
    const failures = this.failures.toLog(
      JSON.stringify([identifier, provider, model, request?.host, kind, purpose]),
    );
    if (failures === undefined) return;
    const facts = { purpose, kind, ...ids, failures };
    if (!request) return this.logger.error({ err: error, ...facts }, "an answer failed");
    const { host, reason } = request;
    const line = { provider, host, model, identifier, ...facts, reason: reason() };
    if (kind === "tools_refused") this.logger.warn(line, "the model takes no functions");
    else this.logger.error(line, "the model failed");
  }

  private counted(name: string): string {
    if (this.names.size < MAX_NAMES) this.names.add(name);
    return this.names.has(name) ? name : "other";
  }
}
