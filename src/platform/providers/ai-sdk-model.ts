import type * as Anthropic from "@ai-sdk/anthropic";
import type * as Groq from "@ai-sdk/groq";
import type * as OpenAi from "@ai-sdk/openai";
import type * as Compatible from "@ai-sdk/openai-compatible";
import { LRUCache } from "lru-cache";
import type { ModelEntry } from "../catalog/load-catalog";
import { BOUNDS, MAX_MODEL_TEXT_BYTES, type BoundedAnswers } from "../outbound/bounds";
import { load } from "./load";
import { failedRequest } from "./failed-request";
import { pairedCalls } from "./paired-calls";
import { modelFailure } from "./provider-error";
import {
  ModelFailure,
  type CutReason,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  type TextModel,
} from "../ports/text-model";
import { ThinkFilter } from "./think-filter";

/** Number of models remembered to begin with reasoning without an opening tag. */
const MAX_REASONING_MODELS = 1_000;

/** Type of the models of all vendors in the SDK. */
type VendorModel = ReturnType<OpenAi.OpenAIProvider["chat"]>;
type VendorRequest = Parameters<VendorModel["doStream"]>[0];
type VendorMessage = VendorRequest["prompt"][number];

/** Models of OpenAI, Groq, Anthropic or a chat completions API at a base URL. @param guardedFetch for addresses that customers chose */
export function aiSdkModel(guardedFetch: typeof fetch, answers: BoundedAnswers): TextModel {
  const reasoning = new LRUCache<string, true>({ max: MAX_REASONING_MODELS });
  return {
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      try {
        yield* parts(request, guardedFetch, answers, reasoning);
      } catch (error) {
        const failure = modelFailure(error, request.signal.aborted, request.model);
        failure.request ??= failedRequest(failure, request);
        throw failure;
      }
    },
  };
}

/** Streams the parts of an answer. Uses the SDK's vendor interface directly: a turn needs no feature of streamText. */
async function* parts(
  request: ModelRequest,
  guardedFetch: typeof fetch,
  answers: BoundedAnswers,
  reasoning: LRUCache<string, true>,
): AsyncGenerator<ModelPart> {
  const { provider, model } = request.model;
  const name = [provider, model, request.model.baseUrl ?? request.credential!.baseUrl].join(" ");
  const reach = answers.fetch(request.credential!.guarded ? guardedFetch : fetch, provider, BOUNDS.model);
  const { stream } = await languageModel(request, reach).doStream(vendorRequest(request));
  let textBytes = 0;
  const filter = new ThinkFilter(reasoning.has(name));
  let usable = false;
  let reason: CutReason | undefined;
  for await (const part of stream) {
    if (part.type === "error") throw modelFailure(part.error, false, request.model);
    if ("delta" in part) textBytes += Buffer.byteLength(part.delta);
    if (textBytes > MAX_MODEL_TEXT_BYTES)
      throw answers.exceeded(provider, `${MAX_MODEL_TEXT_BYTES} bytes of text`);
    const { text, withdrawn } = part.type === "text-delta" ? filter.add(part.delta) : NOTHING;
    if (withdrawn) yield { type: "withdrawn" };
    if (text !== "") yield { type: "text", text };
    if (part.type === "tool-call")
      yield { type: "call", id: part.toolCallId, name: part.toolName, arguments: parseArguments(part.input) };
    if (part.type === "finish") reason = CUT[part.finishReason.unified];
    usable = (usable && !withdrawn) || text !== "" || part.type === "tool-call";
  }
  const rest = filter.end(reason !== undefined);
  if (filter.closedOnly) reasoning.set(name, true);
  else if (reason === undefined) reasoning.delete(name);
  if (rest !== "") yield { type: "text", text: rest };
  if (!usable && rest === "") throw new ModelFailure("The model's answer was empty.", { kind: "unusable" });
  if (reason) yield { type: "cut", reason };
}

const NOTHING = { text: "", withdrawn: false };
const CUT: Readonly<Record<string, CutReason>> = { length: "length", "content-filter": "content_filter" };

function vendorRequest(request: ModelRequest): VendorRequest {
  const { system, messages, tools, temperature, maxTokens, signal, model } = request;
  const effort = model.reasoning && { reasoningEffort: model.reasoning };
  const offered = tools.map(({ name, description, parameters: inputSchema }) => ({
    type: "function" as const,
    name,
    description,
    inputSchema,
  }));
  return {
    prompt: [
      ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
      ...pairedCalls(messages).map(toVendor),
    ],
    ...(offered.length > 0 && { tools: offered, toolChoice: { type: "auto" as const } }),
    temperature,
    maxOutputTokens: maxTokens,
    ...(effort && { providerOptions: { openai: effort, groq: effort, [nameOf(model)]: effort } }),
    abortSignal: signal,
  };
}

/** Parses arguments. Invalid JSON stays text, which the check of arguments then refuses. */
function parseArguments(input: string): unknown {
  try {
    return JSON.parse(input === "" ? "{}" : input);
  } catch {
    return input;
  }
}

/** Name of the provider for the SDK, which also names its options. */
const nameOf = ({ provider }: ModelEntry) => provider.toLowerCase();

function languageModel({ model, credential }: ModelRequest, reach: typeof fetch): VendorModel {
  const { apiKey = "none", baseUrl: baseURL } = credential!; // requests without a credential go to the local model
  const options = {
    apiKey,
    ...(baseURL !== undefined && { baseURL }),
    fetch: reach,
  };
  switch (model.baseUrl === undefined ? model.provider : "COMPATIBLE") {
    case "OPENAI":
      return load<typeof OpenAi>("@ai-sdk/openai").createOpenAI(options).chat(model.model);
    case "GROQ":
      return load<typeof Groq>("@ai-sdk/groq").createGroq(options)(model.model);
    case "ANTHROPIC":
      return load<typeof Anthropic>("@ai-sdk/anthropic").createAnthropic(options)(model.model);
    default: {
      if (baseURL === undefined)
        throw new ModelFailure(
          `${model.provider} has no address: set ${model.provider.toUpperCase()}_BASE_URL, or baseUrl in CATALOG_FILE.`,
          { permanent: true, kind: "unreachable" },
        );
      const { createOpenAICompatible } = load<typeof Compatible>("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        ...options,
        baseURL,
        name: nameOf(model),
      }).chatModel(model.model);
    }
  }
}

function toVendor({ role, content, calls = [], answers }: ModelMessage): VendorMessage {
  if (role === "user") return { role, content: [{ type: "text", text: content }] };
  if (role === "tool") {
    const output = { type: "text" as const, value: content };
    return {
      role,
      content: [{ type: "tool-result", toolCallId: answers!.id, toolName: answers!.name, output }],
    };
  }
  const text = content === "" ? [] : [{ type: "text" as const, text: content }];
  return {
    role,
    content: [
      ...text,
      ...calls.map((call) => ({
        type: "tool-call" as const,
        toolCallId: call.id,
        toolName: call.name,
        input: call.arguments,
      })),
    ],
  };
}
