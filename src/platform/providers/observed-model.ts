import { tracing } from "../tracing/tracing";
import { ModelFailure, type ModelPart, type ModelRequest, type TextModel } from "../ports/text-model";

/** A request to a model that has ended. */
export interface EndedRequest {
  /** A provider of the catalog or of the settings, `custom` for an address that a customer chose, or `local`. */
  readonly provider: string;
  /** `ok`, a kind of failure, `internal`, or `canceled` if the answer was no longer wanted. */
  readonly outcome: string;
  readonly seconds: number;
  /** Time until the first part of the answer; undefined if there was none. */
  readonly firstPartSeconds: number | undefined;
}

/** The same model; tells `observe` of every request, retries included. */
export function observedModel(model: TextModel, observe: (request: EndedRequest) => void): TextModel {
  const stream = (request: ModelRequest) => observed(model, request, observe);
  return model.suggest ? { stream, suggest: (request) => model.suggest!(request) } : { stream };
}

async function* observed(
  model: TextModel,
  request: ModelRequest,
  observe: (request: EndedRequest) => void,
): AsyncGenerator<ModelPart, void> {
  const startedAt = performance.now();
  const sinceStart = () => (performance.now() - startedAt) / 1_000;
  let firstPartSeconds: number | undefined;
  let outcome = "canceled";
  try {
    for await (const part of traced(model, request)) {
      firstPartSeconds ??= sinceStart();
      yield part;
    }
    outcome = "ok";
  } catch (error) {
    outcome = error instanceof ModelFailure ? error.kind : "internal";
    throw error;
  } finally {
    observe({ provider: providerOf(request), outcome, seconds: sinceStart(), firstPartSeconds });
  }
}

function traced(model: TextModel, request: ModelRequest): AsyncIterable<ModelPart> {
  const parts = model.stream(request);
  const attributes = {
    "gen_ai.provider.name": providerOf(request),
    "gen_ai.request.model": request.model.model,
  };
  return tracing.tracer?.stream("model request", { kind: "client", attributes }, parts) ?? parts;
}

const providerOf = ({ model, credential }: ModelRequest): string => {
  if (!credential) return "local";
  return credential.guarded ? "custom" : model.provider;
};
