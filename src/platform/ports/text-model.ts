import type { ModelEntry } from "../catalog/load-catalog";

export interface ModelMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  /** Of an assistant's message: the functions that it calls. */
  readonly calls?: readonly ModelCall[];
  /** Of a tool's message: the call that it answers. */
  readonly answers?: { readonly id: string; readonly name: string };
}

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** A function that the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelCredential {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** Whether a customer chose the address: it is reached with the guard for such addresses. */
  readonly guarded: boolean;
}

export interface ModelRequest {
  readonly model: ModelEntry;
  /** Undefined where nobody has given one: the local model answers then. */
  readonly credential: ModelCredential | undefined;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** 0 to 2. */
  readonly temperature: number;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Where the conversation has just been handed to this assistant: what it would begin with. */
  readonly opening?: string;
  /** What the assistant knows about a question, the best first; the local model answers with it. */
  readonly retrieve: (question: string) => Promise<readonly string[]>;
  /** What else it knows, the nearest to what was asked first; the local model suggests it. */
  readonly topics: () => Promise<readonly string[]>;
}

/** A piece of an answer, as it comes. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "call" } & ModelCall)
  /** All text so far was a thought: it is no part of the answer. */
  | { readonly type: "withdrawn" }
  /** The last part of an answer that was cut. */
  | { readonly type: "cut"; readonly reason: CutReason };

/** Why an answer was cut: it reached its longest, or the provider's filter stopped it. */
export type CutReason = "length" | "content_filter";

interface FailureOptions extends ErrorOptions {
  /** For how many milliseconds the model wants to be left alone; 0 if it does not say. */
  readonly retryAfter?: number;
  /** Whether the same request fails again, as the key, the request or the quota is wrong. */
  readonly permanent?: boolean;
}

/** A vendor's model gave no usable answer. */
export class ModelFailure extends Error {
  readonly retryAfter: number;
  readonly permanent: boolean;

  constructor(message: string, { retryAfter = 0, permanent = false, ...options }: FailureOptions = {}) {
    super(message, options);
    this.retryAfter = retryAfter;
    this.permanent = permanent;
  }
}

export const isPermanent = (error: unknown): boolean => error instanceof ModelFailure && error.permanent;

/** Longest that a model which asks to be left alone is waited for, in milliseconds: a person waits too. */
const LONGEST_PAUSE = 10_000;

/** How long to wait before a model that has failed is asked again, in milliseconds. @param least the pause where it names none */
export const pauseAfter = (error: unknown, least: number): number =>
  error instanceof ModelFailure ? Math.max(least, Math.min(error.retryAfter, LONGEST_PAUSE)) : least;

/** Whatever writes the assistant's answers. */
export interface TextModel {
  /** @throws ModelFailure when the model does not answer, or answers with something that is not usable */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /** What the person may say next, the best first, of a model that can tell without being asked in words. */
  suggest?(request: Pick<ModelRequest, "topics">, answer: string): Promise<readonly string[]>;
}
