import type { ModelEntry } from "../catalog/load-catalog";

export interface ModelMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  /** Functions that the assistant calls with this message. */
  readonly calls?: readonly ModelCall[];
  /** The call that a tool's message answers. */
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
  /** Whether a customer chose the address. Requests to such addresses go through the outbound guard. */
  readonly guarded: boolean;
}

export interface ModelRequest {
  readonly model: ModelEntry;
  /** Undefined if neither the organization nor the operator set one: the local model answers then. */
  readonly credential: ModelCredential | undefined;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** 0 to 2. */
  readonly temperature: number;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** The assistant's opening line, if the conversation has just been handed to it. */
  readonly opening?: string;
  /** Text of the assistant's resources and files that answers a question; the local model answers with it. */
  readonly quote: (question: string) => Promise<string | undefined>;
  /** Headings of the assistant's resources and files, closest to the question first; the local model suggests them. */
  readonly topics: () => Promise<readonly string[]>;
  /** The assistant's own texts; the local model answers in their language. Those closest to its answers come first. */
  readonly texts: () => Promise<readonly string[]>;
}

/** A piece of a streamed answer. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "call" } & ModelCall)
  /** All text so far was the model's reasoning and is not part of the answer. */
  | { readonly type: "withdrawn" }
  /** The last part of an answer that was cut off. */
  | { readonly type: "cut"; readonly reason: CutReason };

/** Why an answer was cut off: it reached its maximum length, or the provider's filter stopped it. */
export type CutReason = "length" | "content_filter";

/**
 * Kinds of failures: no connection, or it broke; no complete answer in time; the key is refused; the provider does not
 * have the model; its rate limit or quota is used up; the model takes no
 * functions; it refuses the request; its answer is not usable; any other error
 * of the provider.
 */
export type FailureKind =
  | "unreachable"
  | "timeout"
  | "key_refused"
  | "unknown_model"
  | "limited"
  | "tools_refused"
  | "refused"
  | "unusable"
  | "failed";

/** A failed request, without keys and without words of the conversation. */
export interface FailedRequest {
  readonly model: ModelEntry;
  /** Host of the address, if it is not the provider's own. */
  readonly host?: string;
  /** Message of the failure. Composed only when it is needed. */
  readonly reason: () => string;
}

interface FailureOptions extends ErrorOptions {
  /** Pause that the vendor asks for, in milliseconds; 0 if it names none. */
  readonly retryAfterMs?: number;
  /** Whether a retry would fail too, because the key, the request or the quota is wrong. */
  readonly permanent?: boolean;
  readonly kind?: FailureKind;
}

/** A vendor's model gave no usable answer. */
export class ModelFailure extends Error {
  readonly retryAfterMs: number;
  readonly permanent: boolean;
  readonly kind: FailureKind;
  /** The request that failed; undefined until the model's adapter adds it. */
  request: FailedRequest | undefined;

  constructor(
    message: string,
    { retryAfterMs = 0, permanent = false, kind = "failed", ...options }: FailureOptions = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.permanent = permanent;
  }
}

export const isPermanent = (error: unknown): boolean => error instanceof ModelFailure && error.permanent;

/** Upper limit for the pause that a vendor asks for: a person is waiting for the answer. */
const MAX_PAUSE_MS = 10_000;

/** Pause before a failed model is asked again, in milliseconds. @param minimumMs shortest pause, used if the vendor names none */
export const pauseAfter = (error: unknown, minimumMs: number): number =>
  error instanceof ModelFailure ? Math.max(minimumMs, Math.min(error.retryAfterMs, MAX_PAUSE_MS)) : minimumMs;

/** Writes the assistant's answers. */
export interface TextModel {
  /** @throws ModelFailure if the model does not answer or its answer is not usable */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /** Replies that the person may choose next, best first; only for models that know them without another prompt. */
  suggest?(request: Pick<ModelRequest, "topics" | "messages">): Promise<readonly string[]>;
}
