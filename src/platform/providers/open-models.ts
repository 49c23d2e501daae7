import { LRUCache } from "lru-cache";
import type { Catalog } from "../catalog/load-catalog";
import type { Config } from "../settings/config";
import type { BoundedAnswers } from "../outbound/bounds";
import { aiSdkModel } from "./ai-sdk-model";
import { localModel } from "./local-model";
import { modelAccess } from "./model-access";
import { ModelReports, type Count } from "./model-reports";
import { observedModel, type EndedRequest } from "./observed-model";
import { toolRefusals } from "./tool-refusals";
import type { Logger } from "pino";
import type { Models } from "../ports/ports";

/** After this time, an unchanged outcome is stored again. */
const OUTCOME_LIFETIME_MS = 60_000;
const MAX_OUTCOMES = 10_000;

/** Parts that tell the operator of requests. */
interface Reporting {
  readonly logger?: Pick<Logger, "error" | "warn">;
  readonly count?: Count;
  readonly observe?: (request: EndedRequest) => void;
}

/** The text models, with the credentials from the settings. @throws Error naming an invalid setting of a provider */
export function openModels(
  settings: Config,
  catalog: Catalog,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
  { logger, count, observe = () => undefined }: Reporting = {},
): Models {
  return {
    remote: observedModel(aiSdkModel(guardedFetch, answers), observe),
    local: observedModel(localModel, observe),
    reports: new ModelReports(logger, count),
    refusals: toolRefusals(),
    outcomes: new LRUCache<string, string>({ max: MAX_OUTCOMES, ttl: OUTCOME_LIFETIME_MS }),
    timeoutMs: settings.MODEL_TIMEOUT_SECONDS * 1_000,
    ...modelAccess(settings, catalog),
  };
}
