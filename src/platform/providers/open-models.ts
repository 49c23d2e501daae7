import type { Catalog } from "../catalog/load-catalog";
import type { Config } from "../settings/config";
import type { BoundedAnswers } from "../outbound/bounds";
import { aiSdkModel, type ReportUnknownModel } from "./ai-sdk-model";
import { localModel } from "./local-model";
import { modelAccess } from "./model-access";
import type { Models } from "../ports/ports";

/** The text models, with the credentials from the settings. @throws Error naming an invalid setting of a provider */
export function openModels(
  settings: Config,
  catalog: Catalog,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
  report?: ReportUnknownModel,
): Models {
  return {
    remote: aiSdkModel(guardedFetch, answers, report),
    local: localModel,
    timeoutMs: settings.MODEL_TIMEOUT_SECONDS * 1_000,
    ...modelAccess(settings, catalog),
  };
}
