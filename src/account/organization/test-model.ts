import type { Scope } from "../../platform/database/scope";
import {
  ModelFailure,
  type FailureKind,
  type ModelRequest,
  type TextModel,
} from "../../platform/ports/text-model";
import { ModelFailures } from "./model-failures";
import { ModelMappings, type ChosenModel } from "./model-mappings";

/** Result of a test request to a model. */
export interface ModelTest {
  readonly provider: string;
  /** The provider's name for the model. */
  readonly name: string;
  /** False if no model is connected, so that answers are looked up locally. */
  readonly connected: boolean;
  readonly text: string | null;
  readonly error: string | null;
  /** Set if the request failed. */
  readonly kind?: FailureKind;
  readonly durationMs: number;
}

export const TEST_MESSAGE = "Say hello in one short sentence.";
/** More tokens than the answer needs, because some models reason first. */
const MAX_TOKENS = 500;
const TIMEOUT_MS = 20_000;

/** Sends a message to the model that answers for an identifier, outside of any chat. */
export async function testModel(scope: Scope, id: string, message: string): Promise<ModelTest> {
  const chosen = await scope.of(ModelMappings).for(id);
  if (chosen.credential) {
    const result = await askOnce(scope.ports.models.remote, chosen, message);
    if (result.error === null) await scope.of(ModelFailures).forget(id);
    return result;
  }
  const { provider, model: name } = chosen.model;
  const error = `No model is connected for ${id}: set a key with setModelCredential, or a server with setModelMapping.`;
  return { provider, name, connected: false, text: null, error, durationMs: 0 };
}

/** Sends one message to a model. Reports a failure instead of throwing it. */
export async function askOnce(remote: TextModel, chosen: ChosenModel, message: string): Promise<ModelTest> {
  const { provider, model: name } = chosen.model;
  const startedAt = performance.now();
  const result = (outcome: Pick<ModelTest, "text" | "error" | "kind">): ModelTest => ({
    provider,
    name,
    connected: true,
    ...outcome,
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    let text = "";
    for await (const part of remote.stream(requestOf(chosen, message))) {
      if (part.type === "text") text += part.text;
      else if (part.type === "withdrawn") text = "";
    }
    return result({ text, error: null });
  } catch (error) {
    if (error instanceof ModelFailure) return result({ text: null, error: error.message, kind: error.kind });
    throw error;
  }
}

const requestOf = ({ model, credential }: ChosenModel, content: string): ModelRequest => ({
  model,
  credential,
  system: "",
  messages: [{ role: "user", content }],
  tools: [],
  temperature: 0.5,
  maxTokens: MAX_TOKENS,
  signal: AbortSignal.timeout(TIMEOUT_MS),
  quote: () => Promise.resolve(undefined),
  topics: () => Promise.resolve([]),
  texts: () => Promise.resolve([]),
});
